// The ring is first-in first-out, bounded, and safe between two threads.
#include "core/loop/spsc_ring.h"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace halogen {
namespace {

TEST(SpscRing, RoundsItsCapacityUpToAPowerOfTwo) {
  EXPECT_EQ(SpscRing<int>(1).capacity(), 1u);
  EXPECT_EQ(SpscRing<int>(5).capacity(), 8u);
  EXPECT_EQ(SpscRing<int>(8).capacity(), 8u);
}

TEST(SpscRing, RefusesWhenFullAndKeepsTheValueWithItsOwner) {
  SpscRing<std::string> ring(2);
  EXPECT_TRUE(ring.try_push("a"));
  EXPECT_TRUE(ring.try_push("b"));
  std::string refused = "a string too long for the small-string optimisation";
  EXPECT_FALSE(ring.try_push(std::move(refused)));
  EXPECT_EQ(refused, "a string too long for the small-string optimisation");
  EXPECT_EQ(ring.try_pop(), "a");
  EXPECT_TRUE(ring.try_push(std::move(refused)));
  EXPECT_EQ(ring.try_pop(), "b");
  EXPECT_EQ(ring.try_pop(), "a string too long for the small-string optimisation");
  EXPECT_EQ(ring.try_pop(), std::nullopt);
}

TEST(SpscRing, KeepsNothingAliveAfterThePop) {
  SpscRing<std::shared_ptr<int>> ring(4);
  auto value = std::make_shared<int>(1);
  std::weak_ptr<int> watch = value;
  ring.try_push(std::move(value));
  ring.try_pop().reset();
  EXPECT_TRUE(watch.expired());
}

TEST(SpscRing, TwoThreadsPassEveryElementInOrder) {
  constexpr int kCount = 200000;
  SpscRing<int> ring(64);
  std::thread producer([&ring] {
    for (int i = 0; i < kCount;) {
      if (ring.try_push(i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  int next = 0;
  while (next < kCount) {
    if (auto value = ring.try_pop()) {
      ASSERT_EQ(*value, next);
      ++next;
    } else {
      std::this_thread::yield();
    }
  }
  producer.join();
  EXPECT_EQ(ring.try_pop(), std::nullopt);
}

}  // namespace
}  // namespace halogen
