// A request's JSON, as untrusted as anything that comes over a network.
#include "core/api/json.h"

#include <gtest/gtest.h>

namespace halogen::api {
namespace {

std::string repeat(std::string_view text, size_t times) {
  std::string repeated;
  for (size_t i = 0; i < times; i++) repeated += text;
  return repeated;
}

std::string parsed(std::string_view text) {
  auto json = parse_json(text);
  return json ? to_text(*json) : "ERROR: " + json.error().message;
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parsed(R"( {"b": [1, -2, 2.5, true, null], "a": {"d": "\u00fc", "c": {}}} )"),
            R"({"b":[1,-2,2.5,true,null],"a":{"d":"ü","c":{}}})");
  EXPECT_EQ(parsed("3"), "3");
}

TEST(ParseJson, TheLastOfSeveralKeysOfANameCounts) {
  EXPECT_EQ(parsed(R"({"a": 1, "b": 2, "a": [3]})"), R"({"a":[3],"b":2})");
  EXPECT_EQ(parsed(R"({"a": {"x": 1}, "a": {"y": 2}})"), R"({"a":{"y":2}})");
}

TEST(ParseJson, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(parsed("{\n\"a\" 1}").substr(0, 60),
            "ERROR: the request's body is not JSON: parse error at line 2");
  EXPECT_EQ(parsed("[1] 2").substr(0, 60),
            "ERROR: the request's body is not JSON: parse error at line 1");
  EXPECT_EQ(parsed("[1e999]"),
            "ERROR: the request's body is not JSON: number overflow parsing '1e999'");
  EXPECT_EQ(parsed("").substr(0, 38), "ERROR: the request's body is not JSON:");
}

TEST(ParseJson, NestingIsBounded) {
  EXPECT_EQ(parsed(repeat("[", 64) + repeat("]", 64)), repeat("[", 64) + repeat("]", 64));
  EXPECT_EQ(parsed(repeat("[", 1'000'000)),
            "ERROR: the request's JSON is nested more than 64 deep");
  EXPECT_EQ(parsed(repeat("{\"a\":", 65)), "ERROR: the request's JSON is nested more than 64 deep");
}

// The library's own objects compare every new key with all before it: this would take minutes.
TEST(ParseJson, ManyKeysTakeNoLongerThanManyValues) {
  std::string text = "{\"first\": 0";
  for (int i = 0; i < 65'535; i++) text += ",\"" + std::to_string(i) + "\": 1";
  auto json = parse_json(text + "}");
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_EQ(json->size(), 65'536);
  EXPECT_EQ(parsed(text + ", \"more\": 2}"),
            "ERROR: an object of the request has more than 65536 keys");
}

}  // namespace
}  // namespace halogen::api
