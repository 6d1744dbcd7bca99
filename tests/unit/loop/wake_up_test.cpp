#include "core/loop/wake_up.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace halogen {
namespace {

TEST(WakeUp, IsHeardAfterEveryRingFromAnotherThread) {
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  std::atomic<int> rung{0};
  int heard_up_to = 0, calls = 0;
  auto wake_up = WakeUp::create(**loop, [&] {
    calls++;
    heard_up_to = rung;
    if (heard_up_to == 1000) (*loop)->stop();
  });
  ASSERT_TRUE(wake_up);
  std::thread thread([&] {
    for (int i = 0; i < 1000; i++) {
      rung++;
      (*wake_up)->ring();
    }
  });
  (*loop)->run();
  thread.join();
  EXPECT_EQ(heard_up_to, 1000);
  EXPECT_LE(calls, 1001);
}

TEST(WakeUp, RingsBeforeTheLoopRunsCountAsOne) {
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  int calls = 0;
  auto wake_up = WakeUp::create(**loop, [&] { calls++; });
  ASSERT_TRUE(wake_up);
  for (int i = 0; i < 10; i++) (*wake_up)->ring();
  (*loop)->stop();
  (*loop)->run();
  EXPECT_EQ(calls, 1);
}

TEST(WakeUp, IsNotHeardOnceItIsGone) {
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  int calls = 0;
  auto wake_up = WakeUp::create(**loop, [&] { calls++; });
  ASSERT_TRUE(wake_up);
  (*wake_up)->ring();
  wake_up->reset();
  (*loop)->stop();
  (*loop)->run();
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace halogen
