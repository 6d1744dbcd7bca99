#include "core/config/print.h"

#include <gtest/gtest.h>

#include "core/config/profile_diff.h"
#include "core/config/schema.h"
#include "tests/unit/config/support.h"

namespace halogen {
namespace {

using test::load;
using test::TemporaryFolder;

TEST(EffectiveToml, LoadsAsTheSameProfile) {
  Result<Profile> profile = load({"--host",
                                  "::1",
                                  "--served-model-name",
                                  "a \"quoted\" \\ name\n",
                                  "--served-model-name",
                                  "b",
                                  "--context",
                                  "4096",
                                  "--pool-size",
                                  "37.5%",
                                  "--cache-type",
                                  "f32",
                                  "--flash-attn",
                                  "0",
                                  "--temperature",
                                  "0.1",
                                  "--metrics",
                                  "off",
                                  "--drain-timeout",
                                  "1500ms",
                                  "--set",
                                  "backend.cpu.threads=8",
                                  "--set",
                                  "backend.cpu.share=1.0",
                                  "--set",
                                  "loader.\"com.example.fast\".names=[\"x\"]",
                                  "--set",
                                  "scheduler.fair.deep.key=true"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  TemporaryFolder folder;
  Result<Profile> again =
      load({"--config", folder.write("printed.toml", effective_toml(*profile))});
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << effective_toml(*profile);
  for (const ProfileChange& change : diff_profiles(*profile, *again))
    ADD_FAILURE() << change.key << ": " << change.old_value << " became " << change.new_value;
}

TEST(EffectiveToml, NamesTheOriginOfEveryValue) {
  Result<Profile> profile = load({"--port", "9000", "--set", "backend.cpu.threads=8"});
  const std::string text = effective_toml(*profile);
  EXPECT_NE(text.find("\nport = 9000  # flag --port\n"), std::string::npos) << text;
  EXPECT_NE(text.find("host = \"127.0.0.1\"  # default\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n[backend.cpu]\nthreads = 8  # flag --set\n"), std::string::npos) << text;
  for (const Setting& setting : settings())
    EXPECT_NE(text.find(std::string(setting.name())), std::string::npos) << setting.key;
}

TEST(EffectiveToml, KeepsSecretsToItself) {
  Result<Profile> profile = load({"--api-key", "hunter2", "--api-key", "swordfish"});
  const std::string text = effective_toml(*profile);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(text.find("swordfish"), std::string::npos);
  EXPECT_NE(text.find("# api_keys: 2, not shown  # flag --api-key\n"), std::string::npos) << text;
}

TEST(EffectiveToml, AnOriginCannotEndItsComment) {
  TemporaryFolder folder;
  const std::string file = folder.write("a\nport = 1", "[server]\nport = 9000\n");
  Result<Profile> profile = load({"--config", file});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  Result<Profile> again =
      load({"--config", folder.write("printed.toml", effective_toml(*profile))});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->server.port, 9000);
}

}  // namespace
}  // namespace halogen
