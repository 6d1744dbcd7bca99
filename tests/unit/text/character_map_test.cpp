#include "core/text/character_map.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/text/character_map_builder.h"

namespace halogen::text {
namespace {

std::string mapped(const std::map<std::string, std::string>& map, std::string_view text) {
  const auto parsed = CharacterMap::parse(testing::character_map(map));
  EXPECT_TRUE(parsed.ok());
  const auto result = parsed->apply(text);
  EXPECT_TRUE(result.ok());
  return *result;
}

TEST(CharacterMap, ReplacesCharactersAndLeavesTheOthers) {
  EXPECT_EQ(mapped({{"\t", " "}, {"ﬁ", "fi"}, {"é", "e"}, {"x", ""}}, "a\tbﬁéx😀"), "a bfie😀");
  EXPECT_EQ(mapped({{"\n", " "}}, "\n\n\na\n"), "   a ");
  EXPECT_EQ(mapped({}, "any\nthing\u0301 你"), "any\nthing\u0301 你");
}

// As the tokenizers library has it: a short cluster becomes what its shortest key says, whole.
TEST(CharacterMap, ReplacesShortClustersWhole) {
  const std::map<std::string, std::string> map = {{"e\u0301", "é"}, {"e", "E"}, {"\u0323", "!"}};
  EXPECT_EQ(mapped(map, "e"), "E");
  EXPECT_EQ(mapped({{"e\u0301", "é"}}, "e\u0301x"), "éx");
  EXPECT_EQ(mapped({{"e\u0301", "é"}}, "e\u0301\u0327x"), "éx");  // five bytes: one replacement
  EXPECT_EQ(mapped({{"e\u0301", "é"}}, "e\u0301\u0327\u0327"),
            "e\u0301\u0327\u0327");        // seven: none
  EXPECT_EQ(mapped(map, "e\u0301"), "E");  // the shortest key
  EXPECT_EQ(mapped(map, "a\u0301\u0323\u0301\u0323"), "a\u0301!\u0301!");
  EXPECT_EQ(mapped({{"\r", "R"}, {"\n", "N"}}, "\r\n\n\r"), "RNR");
}

TEST(CharacterMap, ReplacesWhatIsBroken) {
  EXPECT_EQ(mapped({{"a", "b"}}, "a\xFF\xE2\x82"), "b\uFFFD\uFFFD\uFFFD");
}

TEST(CharacterMap, TakesLinearTimeForOneCluster) {
  std::string text = "e";
  while (text.size() < 1U << 20U) text += "\u0301\u0323";
  EXPECT_EQ(mapped({{"x", "y"}}, text), text);
}

TEST(CharacterMap, RefusesWhatIsDamaged) {
  const std::string good = testing::character_map({{"a", "b"}});
  const auto expect_error = [](const std::string& bytes, std::string_view part) {
    const auto map = CharacterMap::parse(bytes);
    ASSERT_FALSE(map.ok());
    EXPECT_EQ(map.error().status, HALOGEN_E_INVALID);
    EXPECT_NE(map.error().message.find(part), std::string::npos) << map.error().message;
  };
  expect_error(good.substr(0, 3), "shorter than its size field");
  expect_error(good.substr(0, 40), "but 36 follow");
  expect_error(std::string("\x03\0\0\0\0\0\0", 7), "table has 3 bytes");
  expect_error(good.substr(0, good.size() - 1), "ends within a replacement");
  expect_error(testing::character_map({{"a", std::string(300, 'b')}}),
               "a replacement of 300 bytes");
  EXPECT_TRUE(CharacterMap::parse("").ok());
}

// Whatever the units say, the map ends and stays within its memory.
TEST(CharacterMap, SurvivesUnitsThatLeadAnywhere) {
  std::mt19937 random(6);
  const std::string good = testing::character_map({{"a", "b"}, {"é", "e"}, {"ab", "c"}});
  for (int round = 0; round < 300; ++round) {
    std::string bytes = good;
    for (uint32_t i = 0; i <= random() % 200; ++i) {
      bytes[4 + random() % (bytes.size() - 12)] = static_cast<char>(random());
    }
    const auto map = CharacterMap::parse(bytes);
    if (!map.ok()) continue;
    std::string text(200, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % 3 == 0 ? random() : 'a');
    EXPECT_TRUE(map->apply(text).ok());
  }
}

}  // namespace
}  // namespace halogen::text
