#include <gtest/gtest.h>

#include "core/config/profile_diff.h"
#include "core/config/schema.h"
#include "tests/unit/config/support.h"

namespace halogen {
namespace {

using test::load;

TEST(Diff, EqualProfilesHaveNone) {
  EXPECT_TRUE(diff_profiles(*load({}), *load({})).empty());
  // 8080 is also the default: the origin alone is no change.
  EXPECT_TRUE(diff_profiles(*load({}), *load({"--port", "8080"})).empty());
}

TEST(Diff, ListsKeysInTheSchemasOrderWithWhatTheyTake) {
  const auto changes = diff_profiles(*load({"--pool-size", "1G"}),
                                     *load({"--temperature", "0.5", "--port", "9000", "--backend",
                                            "vulkan", "--batch-size", "64"}));
  ASSERT_EQ(changes.size(), 5u);
  EXPECT_EQ(changes[0].key, "server.port");
  EXPECT_EQ(changes[0].old_value, "8080");
  EXPECT_EQ(changes[0].new_value, "9000");
  EXPECT_EQ(changes[0].change, Change::restart);
  EXPECT_EQ(changes[1].key, "engine.batch_size");
  EXPECT_EQ(changes[1].old_value, "\"auto\"");
  EXPECT_EQ(changes[1].new_value, "64");
  EXPECT_EQ(changes[1].change, Change::live);
  EXPECT_EQ(changes[2].key, "kv.pool_size");
  EXPECT_EQ(changes[2].old_value, "\"1G\"");
  EXPECT_EQ(changes[2].new_value, "\"85%\"");
  EXPECT_EQ(changes[2].change, Change::transition);
  EXPECT_EQ(changes[3].key, "backend.name");
  EXPECT_EQ(changes[3].new_value, "\"vulkan\"");
  EXPECT_EQ(changes[3].change, Change::transition);
  EXPECT_EQ(changes[4].key, "sampling.temperature");
  EXPECT_EQ(changes[4].change, Change::live);
}

TEST(Diff, SecretsStayHidden) {
  const auto changes = diff_profiles(*load({"--api-key", "a"}), *load({"--api-key", "b"}));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].key, "server.api_keys");
  EXPECT_EQ(changes[0].old_value, "(hidden)");
  EXPECT_EQ(changes[0].new_value, "(hidden)");
}

TEST(Diff, SeesPluginKeysComeGoAndChange) {
  const auto changes = diff_profiles(*load({"--set", "backend.cpu.a=1", "--set", "backend.cpu.b=1",
                                            "--set", "backend.cpu.same=1"}),
                                     *load({"--set", "backend.cpu.b=2", "--set",
                                            "backend.cpu.c=\"x\"", "--set", "backend.cpu.same=1"}));
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].key, "backend.cpu.a");
  EXPECT_EQ(changes[0].old_value, "1");
  EXPECT_EQ(changes[0].new_value, "");
  EXPECT_EQ(changes[1].key, "backend.cpu.b");
  EXPECT_EQ(changes[1].new_value, "2");
  EXPECT_EQ(changes[2].key, "backend.cpu.c");
  EXPECT_EQ(changes[2].old_value, "");
  EXPECT_EQ(changes[2].new_value, "\"x\"");
  EXPECT_EQ(changes[2].change, Change::transition);
}

TEST(Diff, NamesEveryKindOfChange) {
  EXPECT_EQ(change_name(Change::live), "live");
  EXPECT_EQ(change_name(Change::transition), "transition");
  EXPECT_EQ(change_name(Change::restart), "restart");
}

}  // namespace
}  // namespace halogen
