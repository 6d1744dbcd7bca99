// The pure functions: targets, headers, events, error bodies.
#include <gtest/gtest.h>

#include "core/http/error_body.h"
#include "core/http/internal/target.h"
#include "core/http/request.h"
#include "core/http/sse.h"

namespace halogen::http {
namespace {

Request split(std::string target) {
  Request request;
  request.target = std::move(target);
  EXPECT_TRUE(split_target(request)) << request.target;
  return request;
}

bool splits(std::string target) {
  Request request;
  request.target = std::move(target);
  return split_target(request);
}

TEST(Target, DecodesThePathAndTheQuery) {
  const Request request = split("/v1/models/org%2Fname%20x?limit=2&q=a+b%26c&flag&=odd&&bad=%zz");
  EXPECT_EQ(request.path, "/v1/models/org/name x");
  EXPECT_EQ(request.query_value("limit"), "2");
  EXPECT_EQ(request.query_value("q"), "a b&c");
  EXPECT_EQ(request.query_value("flag"), "");
  EXPECT_EQ(request.query_value("bad"), "%zz");
  EXPECT_EQ(request.query_value("absent"), std::nullopt);
  EXPECT_EQ(request.query.size(), 5u);
}

TEST(Target, TakesTheAbsoluteFormAndTheAsterisk) {
  EXPECT_EQ(split("http://host:80/a/b?c=d").path, "/a/b");
  EXPECT_EQ(split("http://host:80/a/b?c=d").query_value("c"), "d");
  EXPECT_EQ(split("http://host").path, "/");
  EXPECT_EQ(split("http://host?x=1").query_value("x"), "1");
  EXPECT_EQ(split("*").path, "*");
  EXPECT_EQ(split("/a#fragment").path, "/a");
}

TEST(Target, RefusesWhatIsNoPath) {
  EXPECT_FALSE(splits("/a%"));
  EXPECT_FALSE(splits("/a%2"));
  EXPECT_FALSE(splits("/a%zz"));
  EXPECT_FALSE(splits("/a%00b"));
  EXPECT_FALSE(splits("no-slash"));
}

TEST(HeaderMap, FindsNamesWithoutRegardToCaseAndTrimsValues) {
  HeaderMap headers;
  headers.open_field();
  headers.extend_name("Content-");
  headers.extend_name("Type");
  headers.extend_value("application/");
  headers.extend_value("json \t");
  headers.open_field();
  headers.extend_name("Empty");
  EXPECT_EQ(headers.get("content-TYPE"), "application/json");
  EXPECT_EQ(headers.get("empty"), "");
  EXPECT_TRUE(headers.contains("EMPTY"));
  EXPECT_FALSE(headers.contains("Content"));
  EXPECT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers.at(1).first, "Empty");
}

TEST(Headers, ListContainsComparesWholeElements) {
  EXPECT_TRUE(list_contains("keep-alive, Upgrade", "upgrade"));
  EXPECT_TRUE(list_contains("close", "close"));
  EXPECT_FALSE(list_contains("not-close", "close"));
  EXPECT_FALSE(list_contains("", "close"));
}

TEST(Sse, FormatsEvents) {
  EXPECT_EQ(sse_event("{\"a\":1}"), "data: {\"a\":1}\n\n");
  EXPECT_EQ(sse_event(""), "data: \n\n");
  EXPECT_EQ(sse_event("one\ntwo\r\nthree\rfour"),
            "data: one\ndata: two\ndata: three\ndata: four\n\n");
  EXPECT_EQ(sse_event("error", "x"), "event: error\ndata: x\n\n");
  EXPECT_EQ(kSseDone, "data: [DONE]\n\n");
  EXPECT_EQ(kSseHeartbeat.front(), ':');
}

TEST(ErrorBody, HasOpenAisShape) {
  EXPECT_EQ(
      error_body("no \"such\" model", "invalid_request_error", "model_not_found"),
      R"({"error":{"message":"no \"such\" model","type":"invalid_request_error","param":null,)"
      R"("code":"model_not_found"}})");
  EXPECT_EQ(error_body("m", "server_error", ""),
            R"({"error":{"message":"m","type":"server_error","param":null,"code":null}})");
}

TEST(ErrorBody, SurvivesBytesThatAreNotUtf8) {
  EXPECT_EQ(
      error_body("\xff", "t", "c"),
      "{\"error\":{\"message\":\"\xEF\xBF\xBD\",\"type\":\"t\",\"param\":null,\"code\":\"c\"}}");
}

}  // namespace
}  // namespace halogen::http
