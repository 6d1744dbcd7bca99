// What of the profile reaches a backend.
#include <gtest/gtest.h>

#include "core/serve/plugin_settings.h"

namespace halogen {
namespace {

const halogen_config_key kThreads = {sizeof(halogen_config_key),
                                     HALOGEN_CONFIG_INT,
                                     "threads",
                                     "0",
                                     "Threads.",
                                     0,
                                     64,
                                     nullptr,
                                     false};
const halogen_config_key kFlash = {sizeof(halogen_config_key),
                                   HALOGEN_CONFIG_STRING,
                                   "flash",
                                   "auto",
                                   "Flash attention.",
                                   0,
                                   0,
                                   "auto|on|off",
                                   true};
const halogen_config_key kThreshold = {sizeof(halogen_config_key),
                                       HALOGEN_CONFIG_INT,
                                       "flash_threshold",
                                       "4096",
                                       "Its threshold.",
                                       0,
                                       1 << 24,
                                       nullptr,
                                       true};

halogen_backend_factory factory_with(const halogen_config_key* const* keys, uint32_t count) {
  halogen_backend_factory factory{};
  factory.struct_size = sizeof factory;
  factory.name = "test";
  factory.n_config_keys = count;
  factory.config_keys = keys;
  return factory;
}

std::string text(const ConfigView& view, const char* key) {
  halogen_string value{};
  EXPECT_EQ(view.config()->get_string(view.config(), key, &value), HALOGEN_OK);
  return {value.data, value.size};
}

int64_t number(const ConfigView& view, const char* key) {
  int64_t value = -1;
  EXPECT_EQ(view.config()->get_int(view.config(), key, &value), HALOGEN_OK);
  return value;
}

TEST(BackendSettings, HoldTheAttentionSectionForABackendThatKnowsIt) {
  const halogen_config_key* const keys[] = {&kThreads, &kFlash, &kThreshold};
  const halogen_backend_factory factory = factory_with(keys, 3);
  Profile profile;
  profile.attention = {FlashAttention::forbidden, 77};
  auto settings = backend_settings(profile, factory);
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(text(*settings, "flash"), "off");
  EXPECT_EQ(number(*settings, "flash_threshold"), 77);
  profile.attention.flash = FlashAttention::forced;
  EXPECT_EQ(text(*backend_settings(profile, factory), "flash"), "on");
}

TEST(BackendSettings, TheBackendsOwnTableComesFirst) {
  const halogen_config_key* const keys[] = {&kFlash, &kThreshold};
  Profile profile;
  profile.attention = {FlashAttention::forced, 77};
  profile.plugin_tables.push_back(
      {"backend", "test", {{"flash_threshold", int64_t{5}, "halogen.toml:3"}}});
  auto settings = backend_settings(profile, factory_with(keys, 2));
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(number(*settings, "flash_threshold"), 5);
  EXPECT_EQ(text(*settings, "flash"), "on");
}

TEST(BackendSettings, ABackendWithOneRouteNeedNotKnowOfIt) {
  const halogen_config_key* const keys[] = {&kThreads};
  auto settings = backend_settings(Profile(), factory_with(keys, 1));
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(number(*settings, "threads"), 0);
}

}  // namespace
}  // namespace halogen
