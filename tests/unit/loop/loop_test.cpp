// Posting, timers and signals of the loop.
#include "core/loop/loop.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/loop/signal_watcher.h"
#include "core/loop/timer.h"

namespace halogen {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::unique_ptr<Loop> make_loop() {
  auto loop = Loop::create();
  EXPECT_TRUE(loop.ok());
  return std::move(*loop);
}

TEST(Loop, StopBeforeRunMakesRunReturn) {
  auto loop = make_loop();
  loop->stop();
  loop->run();
}

TEST(Loop, RunsAgainAfterAStop) {
  auto loop = make_loop();
  int calls = 0;
  for (int round = 0; round < 2; ++round) {
    loop->post([&] {
      ++calls;
      loop->stop();
    });
    loop->run();
  }
  EXPECT_EQ(calls, 2);
}

TEST(Loop, PostsFromManyThreadsAllRunOnTheLoopThreadInOrder) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5000;
  auto loop = make_loop();
  std::vector<int> next(kThreads, 0);
  int total = 0;
  int wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        loop->post([&, t, i] {
          if (!loop->on_loop_thread() || next[t]++ != i) ++wrong;
          if (++total == kThreads * kEach) loop->stop();
        });
      }
    });
  }
  loop->run();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total, kThreads * kEach);
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(loop->on_loop_thread());
}

TEST(Loop, DropsWhatNeverRanWithTheLoop) {
  auto owned = std::make_shared<int>(1);
  std::weak_ptr<int> watch = owned;
  auto loop = make_loop();
  bool ran = false;
  loop->post([owned = std::move(owned), &ran] { ran = true; });
  loop.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(ran);
}

TEST(Timer, FiresOnceAfterItsDelay) {
  auto loop = make_loop();
  int fired = 0;
  Timer timer(*loop, [&] { ++fired; });
  Timer end(*loop, [&] { loop->stop(); });
  auto before = Clock::now();
  timer.start(milliseconds(20));
  end.start(milliseconds(60));
  EXPECT_TRUE(timer.active());
  loop->run();
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(timer.active());
  EXPECT_GE(Clock::now() - before, milliseconds(59));
}

TEST(Timer, RepeatsUntilStopped) {
  auto loop = make_loop();
  int fired = 0;
  std::optional<Timer> timer;
  timer.emplace(*loop, [&] {
    if (++fired == 3) {
      timer->stop();
      loop->stop();
    }
  });
  timer->start(milliseconds(1), milliseconds(5));
  loop->run();
  EXPECT_EQ(fired, 3);
  EXPECT_FALSE(timer->active());
}

TEST(Timer, MayDestroyItselfInItsCallback) {
  auto loop = make_loop();
  auto alive = std::make_shared<int>(7);
  std::optional<Timer> timer;
  int seen = 0;
  timer.emplace(*loop, [&, alive] {
    timer.reset();
    seen = *alive;  // the callback outlives the timer it belongs to
    loop->stop();
  });
  timer->start(milliseconds(1), milliseconds(1));
  loop->run();
  EXPECT_EQ(seen, 7);
}

TEST(Timer, DestroyedTimerNeverFires) {
  auto loop = make_loop();
  bool fired = false;
  std::optional<Timer> timer;
  timer.emplace(*loop, [&] { fired = true; });
  timer->start(milliseconds(5));
  timer.reset();
  Timer end(*loop, [&] { loop->stop(); });
  end.start(milliseconds(20));
  loop->run();
  EXPECT_FALSE(fired);
}

TEST(SignalWatcher, CallsBackOnTheLoopThread) {
  auto loop = make_loop();
  for (int number : {SIGHUP, SIGTERM, SIGINT}) {
    bool called = false;
    auto watcher = SignalWatcher::watch(*loop, number, [&] {
      called = loop->on_loop_thread();
      loop->stop();
    });
    ASSERT_TRUE(watcher.ok());
    loop->post([number] { std::raise(number); });
    loop->run();
    EXPECT_TRUE(called) << number;
  }
}

TEST(SignalWatcher, RefusesASignalThatCannotBeCaught) {
  auto loop = make_loop();
  auto watcher = SignalWatcher::watch(*loop, SIGKILL, [] {});
  ASSERT_FALSE(watcher.ok());
  EXPECT_NE(watcher.error().message.find("cannot watch signal 9"), std::string::npos);
}

}  // namespace
}  // namespace halogen
