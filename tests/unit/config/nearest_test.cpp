#include "core/base/nearest.h"

#include <array>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "core/config/schema.h"

namespace halogen {
namespace {

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("port", "port"), 0u);
  EXPECT_EQ(edit_distance("", "port"), 4u);
  EXPECT_EQ(edit_distance("pot", "port"), 1u);
  EXPECT_EQ(edit_distance("ports", "port"), 1u);
  EXPECT_EQ(edit_distance("pord", "port"), 1u);
  EXPECT_EQ(edit_distance("prot", "port"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, IsSymmetric) {
  EXPECT_EQ(edit_distance("abcdef", "badcfe"), edit_distance("badcfe", "abcdef"));
  EXPECT_EQ(edit_distance("abcdef", "badcfe"), 3u);
}

TEST(Nearest, TakesTheFirstOfTheClosest) {
  constexpr std::array<std::string_view, 3> words = {"port", "sort", "host"};
  EXPECT_EQ(nearest("prot", words), "port");
  EXPECT_EQ(nearest("hort", words), "port");
  EXPECT_EQ(nearest("hosts", words), "host");
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  constexpr std::array<std::string_view, 2> words = {"port", "host"};
  EXPECT_EQ(nearest("temperature", words), "");
  EXPECT_EQ(nearest("xy", words), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'p'), words), "");
  EXPECT_EQ(nearest("port", std::span<const std::string_view>()), "");
}

TEST(NearestKey, FindsSlipsWrongTablesAndFlagNames) {
  EXPECT_EQ(nearest_key("server.prot"), "server.port");
  EXPECT_EQ(nearest_key("sevrer.port"), "server.port");
  EXPECT_EQ(nearest_key("port"), "server.port");
  EXPECT_EQ(nearest_key("model.context"), "engine.context");
  EXPECT_EQ(nearest_key("engine.max_num_seqs"), "engine.max_concurrent_requests");
  EXPECT_EQ(nearest_key("attention.flash_attn"), "attention.flash");
  EXPECT_EQ(nearest_key("kv.quantum"), "");
}

}  // namespace
}  // namespace halogen
