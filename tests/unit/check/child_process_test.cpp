// What a parent learns of a child that ends, crashes or hangs.
#include "core/check/child_process.h"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace halogen::check {
namespace {

using Event = ChildProcess::Event;
constexpr std::chrono::seconds kPatience{20};

ChildProcess started(const std::function<void(const ChildProcess::Tell&)>& body) {
  auto child = ChildProcess::start(body);
  EXPECT_TRUE(child.ok());
  return std::move(*child);
}

TEST(ChildProcess, TellsLinesInOrderAndEnds) {
  ChildProcess child = started([](const ChildProcess::Tell& tell) {
    tell("one");
    tell("");
    tell(std::string(100000, 'x'));
  });
  EXPECT_EQ(child.wait(kPatience).line, "one");
  EXPECT_EQ(child.wait(kPatience).line, "");
  EXPECT_EQ(child.wait(kPatience).line.size(), 100000U);
  EXPECT_EQ(child.wait(kPatience).event, Event::ended);
  EXPECT_EQ(child.finish(), "");
}

TEST(ChildProcess, NamesTheSignalOfACrash) {
  ChildProcess child = started([](const ChildProcess::Tell&) { ::raise(SIGKILL); });
  EXPECT_EQ(child.wait(kPatience).event, Event::ended);
  EXPECT_EQ(child.finish(), "crashed with SIGKILL");
}

TEST(ChildProcess, TellsTheStatusOfAnExit) {
  ChildProcess child = started([](const ChildProcess::Tell&) { ::_exit(9); });
  EXPECT_EQ(child.wait(kPatience).event, Event::ended);
  EXPECT_EQ(child.finish(), "ended the process with exit status 9");
}

TEST(ChildProcess, SaysWhenAnExceptionLeftIt) {
  ChildProcess child = started([](const ChildProcess::Tell&) { throw std::runtime_error("oh"); });
  EXPECT_EQ(child.wait(kPatience).event, Event::ended);
  EXPECT_EQ(child.finish(), "let an exception through");
}

TEST(ChildProcess, IsLateWhereNothingComesAndIsKilledThen) {
  ChildProcess child = started([](const ChildProcess::Tell&) {
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  EXPECT_EQ(child.wait(std::chrono::milliseconds(50)).event, Event::late);
  EXPECT_EQ(child.finish(), "crashed with SIGKILL");
}

}  // namespace
}  // namespace halogen::check
