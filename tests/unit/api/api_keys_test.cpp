// Whose requests are let in.
#include "core/api/api_keys.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace halogen::api {
namespace {

http::Request with_field(std::string_view name, std::string_view value) {
  http::Request request;
  request.headers.open_field();
  request.headers.extend_name(name);
  request.headers.extend_value(value);
  return request;
}

TEST(ApiKeys, WithoutKeysEverybodyIsLetIn) {
  EXPECT_TRUE(ApiKeys({}).admit(http::Request()));
}

TEST(ApiKeys, TakesAnyOfItsKeysInEitherHeader) {
  const ApiKeys keys({"first-key", "second"});
  for (const char* value : {"Bearer first-key", "bearer second", "BEARER   second"})
    EXPECT_TRUE(keys.admit(with_field("authorization", value))) << value;
  EXPECT_TRUE(keys.admit(with_field("X-API-Key", "second")));
}

TEST(ApiKeys, TakesNothingElse) {
  const ApiKeys keys({"first-key", "second"});
  EXPECT_FALSE(keys.admit(http::Request()));
  for (const char* value :
       {"", "Bearer", "Bearer ", "Bearer first-ke", "Bearer first-key2", "Bearer First-key",
        "Bearer first-key second", "Basic second", "second", "Bearersecond"}) {
    EXPECT_FALSE(keys.admit(with_field("Authorization", value))) << value;
  }
  EXPECT_FALSE(keys.admit(with_field("x-api-key", "")));
  EXPECT_FALSE(keys.admit(with_field("x-api-key", "Bearer second")));
  EXPECT_FALSE(keys.admit(with_field("api-key", "second")));
}

class KeyFile : public ::testing::Test {
 protected:
  KeyFile() : path_(::testing::TempDir() + "api-keys-" + std::to_string(::getpid())) {}
  ~KeyFile() override { std::filesystem::remove(path_); }
  void write(std::string_view text) { std::ofstream(path_, std::ios::binary) << text; }

  const std::string path_;
};

TEST_F(KeyFile, HasAKeyALine) {
  write("# for the chat UI\nfirst\n\n  second \r\n#third\nlast");
  const auto keys = read_api_keys(path_);
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_EQ(*keys, (std::vector<std::string>{"first", "second", "last"}));
}

TEST_F(KeyFile, NamesTheLineOfWhatIsNoKeyWithoutShowingIt) {
  write("first\ntwo words\n");
  const auto keys = read_api_keys(path_);
  ASSERT_FALSE(keys.ok());
  EXPECT_EQ(keys.error().message, path_ + ":2: an API key is made of visible ASCII characters");
}

TEST_F(KeyFile, WithoutAKeyIsAMistake) {
  write("# nothing yet\n");
  EXPECT_FALSE(read_api_keys(path_).ok());
  const auto missing = read_api_keys(path_ + ".none");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace halogen::api
