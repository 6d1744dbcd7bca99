#include "core/base/log.h"

#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halogen::test {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { log_init({}); }
  void start(LogLevel level, LogFormat format) {
    log_init({level, format, [this](std::string_view line) { lines.emplace_back(line); }});
  }
  std::vector<std::string> lines;
};

TEST_F(LogTest, Text) {
  start(LogLevel::info, LogFormat::text);
  log_warning("http", "slow \"client\"\n\x1b[31m");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(std::regex_match(
      lines[0],
      std::regex(
          R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} warning http: slow "client"\\n\\u001b\[31m)")))
      << lines[0];
}

TEST_F(LogTest, Json) {
  start(LogLevel::info, LogFormat::json);
  log_error("org.example.x", "a \"b\" \\ c\n");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(std::regex_match(
      lines[0],
      std::regex(
          R"re(\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d","level":"error","component":"org\.example\.x","message":"a \\"b\\" \\\\ c\\n"\})re")))
      << lines[0];
}

TEST_F(LogTest, LevelsAreFiltered) {
  start(LogLevel::warning, LogFormat::text);
  log_debug("x", "1");
  log_info("x", "2");
  log_warning("x", "3");
  log_error("x", "4");
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_FALSE(log_enabled(LogLevel::info));
  EXPECT_TRUE(log_enabled(LogLevel::error));
  start(LogLevel::off, LogFormat::text);
  log_error("x", "5");
  EXPECT_EQ(lines.size(), 2u);
}

TEST_F(LogTest, LevelWords) {
  EXPECT_EQ(log_level_of("debug"), LogLevel::debug);
  EXPECT_EQ(log_level_of("warning"), LogLevel::warning);
  EXPECT_EQ(log_level_of("loud"), std::nullopt);
}

TEST_F(LogTest, LinesOfThreadsStayWhole) {
  start(LogLevel::info, LogFormat::text);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) log_info("x", "whole");
    });
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(lines.size(), 400u);
  for (const auto& line : lines) EXPECT_TRUE(line.ends_with("x: whole"));
}

}  // namespace
}  // namespace halogen::test
