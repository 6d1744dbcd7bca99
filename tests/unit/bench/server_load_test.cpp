#include "core/bench/server_load.h"

#include <gtest/gtest.h>

namespace halogen::bench {
namespace {

TEST(ParseUrl, TakesHostPortAndPath) {
  const auto address = parse_url("http://192.168.1.20:8080/llm/");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "192.168.1.20");
  EXPECT_EQ(address->port, 8080);
  EXPECT_EQ(address->path, "/llm");
}

TEST(ParseUrl, ThePortIs80WhereNoneIsGiven) {
  const auto address = parse_url("http://box.local");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "box.local");
  EXPECT_EQ(address->port, 80);
}

TEST(ParseUrl, AnAddressOfVersion6StandsInBrackets) {
  const auto address = parse_url("http://[::1]:9000");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, 9000);
}

TEST(ParseUrl, RefusesWhatItCannotReach) {
  for (const char* url :
       {"https://box", "box:8080", "http://", "http://box:http", "http://box:70000"})
    EXPECT_FALSE(parse_url(url).ok()) << url;
}

TEST(RunLoad, AServerThatIsNotThereIsAFailureOfEveryRequest) {
  LoadOptions options;
  options.server = {"127.0.0.1", 1, ""};
  options.requests = 3;
  options.streams = 2;
  const LoadResult result = run_load(options);
  EXPECT_EQ(result.failed, 3U);
  EXPECT_TRUE(result.requests.empty());
  EXPECT_NE(result.failure.find("127.0.0.1"), std::string::npos) << result.failure;
}

}  // namespace
}  // namespace halogen::bench
