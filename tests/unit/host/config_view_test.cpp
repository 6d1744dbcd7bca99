#include "core/host/config_view.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "halogen/cxx/plugin.hpp"

namespace halogen::test {
namespace {

halogen_config_key key(halogen_config_type type, const char* name, const char* default_value,
                       double minimum = 0, double maximum = 0, const char* choices = nullptr) {
  return {sizeof(halogen_config_key),
          type,
          name,
          default_value,
          "Help.",
          minimum,
          maximum,
          choices,
          false};
}

const halogen_config_key kPin = key(HALOGEN_CONFIG_BOOL, "pin", "true");
const halogen_config_key kThreads = key(HALOGEN_CONFIG_INT, "threads", "0", 0, 512);
const halogen_config_key kRatio = key(HALOGEN_CONFIG_FLOAT, "ratio", "0.5", 0, 1);
const halogen_config_key kIsa = key(HALOGEN_CONFIG_STRING, "isa", "auto", 0, 0, "auto|avx2|avx512");
const halogen_config_key kDevice = key(HALOGEN_CONFIG_STRING, "device", "");
const halogen_config_key kScratch = key(HALOGEN_CONFIG_SIZE, "scratch", "64M", 0, 1 << 30);
const std::vector<const halogen_config_key*> kKeys = {&kPin, &kThreads, &kRatio,
                                                      &kIsa, &kDevice,  &kScratch};

Result<ConfigView> make(const std::vector<ConfigEntry>& entries) {
  return ConfigView::make("backend.cpu", entries, kKeys);
}

std::string error_of(const std::vector<ConfigEntry>& entries) {
  const auto view = make(entries);
  return view ? "no error" : view.error().message;
}

TEST(ConfigView, DefaultsComplete) {
  const auto view = make({});
  ASSERT_TRUE(view.ok()) << view.error().message;
  const Config config(view->config());
  EXPECT_TRUE(config.boolean("pin"));
  EXPECT_EQ(config.integer("threads"), 0);
  EXPECT_EQ(config.number("ratio"), 0.5);
  EXPECT_EQ(config.text("isa"), "auto");
  EXPECT_EQ(config.text("device"), "");
  EXPECT_EQ(config.integer("scratch"), 64 << 20);
  EXPECT_STREQ(config.where("threads"), "default");
}

TEST(ConfigView, ValuesOfTheOperator) {
  auto made = make({{"pin", false, "h.toml:1"},
                    {"threads", int64_t{16}, "h.toml:2"},
                    {"ratio", int64_t{1}, "h.toml:3"},
                    {"isa", "avx2", "h.toml:4"},
                    {"scratch", "1G", "h.toml:5"}});
  ASSERT_TRUE(made.ok()) << made.error().message;
  const ConfigView view = std::move(*made);  // the table survives the move
  const Config config(view.config());
  EXPECT_FALSE(config.boolean("pin"));
  EXPECT_EQ(config.integer("threads"), 16);
  EXPECT_EQ(config.number("ratio"), 1.0);
  EXPECT_EQ(config.text("isa"), "avx2");
  EXPECT_EQ(config.integer("scratch"), int64_t{1} << 30);
  EXPECT_STREQ(config.where("isa"), "h.toml:4");
}

TEST(ConfigView, SizesAreBytesOrUnits) {
  for (const auto& [text, bytes] : std::vector<std::pair<std::string, int64_t>>{
           {"0", 0}, {"7", 7}, {"3K", 3072}, {"2M", 2 << 20}, {"1G", 1 << 30}}) {
    const auto view = make({{"scratch", text, "h.toml:1"}});
    ASSERT_TRUE(view.ok()) << text;
    EXPECT_EQ(Config(view->config()).integer("scratch"), bytes);
  }
  for (const char* text : {"", "M", "64MB", "-1M", "1.5G", "9999999999999T"})
    EXPECT_EQ(error_of({{"scratch", text, "h.toml:1"}}),
              "h.toml:1: backend.cpu.scratch is \"" + std::string(text) +
                  "\", but must be a size such as \"64M\" or a number of bytes");
}

TEST(ConfigView, WrongAccessIsAStatus) {
  const auto view = make({});
  ASSERT_TRUE(view.ok());
  const halogen_config* config = view->config();
  bool flag = false;
  int64_t whole = 0;
  EXPECT_EQ(config->get_bool(config, "nothing", &flag), HALOGEN_E_NOT_FOUND);
  EXPECT_EQ(config->get_bool(config, "threads", &flag), HALOGEN_E_INVALID);
  EXPECT_EQ(config->get_int(config, "ratio", &whole), HALOGEN_E_INVALID);
  EXPECT_EQ(config->get_int(config, "scratch", &whole), HALOGEN_OK);
}

TEST(ConfigView, MistakesAreNamedAllAtOnce) {
  EXPECT_EQ(error_of({{"treads", int64_t{1}, "h.toml:1"},
                      {"colour", "red", "h.toml:2"},
                      {"pin", int64_t{1}, "h.toml:3"},
                      {"threads", int64_t{900}, "h.toml:4"},
                      {"ratio", 1.5, "h.toml:5"},
                      {"isa", "avx", "h.toml:6"},
                      {"device", true, "h.toml:7"},
                      {"scratch", "2G", "h.toml:8"}}),
            "h.toml:1: backend.cpu.treads is not a key of this plugin; the nearest is \"threads\"\n"
            "h.toml:2: backend.cpu.colour is not a key of this plugin\n"
            "h.toml:3: backend.cpu.pin is 1, but must be true or false\n"
            "h.toml:4: backend.cpu.threads is 900, but must be from 0 to 512\n"
            "h.toml:5: backend.cpu.ratio is 1.5, but must be from 0 to 1\n"
            "h.toml:6: backend.cpu.isa is \"avx\", but must be one of auto, avx2, avx512\n"
            "h.toml:7: backend.cpu.device is true, but must be a string\n"
            "h.toml:8: backend.cpu.scratch is \"2G\", but must be from 0 to 1073741824");
}

TEST(ConfigView, MoreMistakes) {
  EXPECT_EQ(error_of({{"threads", 2.0, "h.toml:1"}}),
            "h.toml:1: backend.cpu.threads is 2, but must be a whole number");
  EXPECT_EQ(error_of({{"ratio", "half", "h.toml:1"}}),
            "h.toml:1: backend.cpu.ratio is \"half\", but must be a number");
  EXPECT_EQ(error_of({{"pin", true, "h.toml:1"}, {"pin", false, "h.toml:2"}}),
            "h.toml:2: backend.cpu.pin was already set at h.toml:1");
}

TEST(ConfigView, PluginWithAWrongDefault) {
  const auto wrong = key(HALOGEN_CONFIG_INT, "threads", "many");
  const std::vector<const halogen_config_key*> keys = {&wrong};
  EXPECT_EQ(ConfigView::make("backend.cpu", {}, keys).error().message,
            "backend.cpu.threads: the plugin's own default many is not a whole number");
}

}  // namespace
}  // namespace halogen::test
