// When a client that found the queue full is told to come back.
#include <gtest/gtest.h>

#include "core/api/api_error.h"

namespace halogen::api {
namespace {

EngineStats queue(uint64_t running, uint64_t waiting, uint64_t mean_service_us) {
  EngineStats stats;
  stats.requests_running = running;
  stats.requests_waiting = waiting;
  stats.mean_service_us = mean_service_us;
  return stats;
}

TEST(RetryAfter, IsTheTimeInWhichTheQueueEmpties) {
  // 256 requests wait for 16 places that each take 2 seconds.
  EXPECT_EQ(retry_after(queue(16, 256, 2'000'000)), 32u);
  EXPECT_EQ(retry_after(queue(16, 256, 2'000'001)), 33u) << "rounded up";
}

TEST(RetryAfter, IsBetweenASecondAndAMinute) {
  EXPECT_EQ(retry_after(queue(16, 256, 0)), 1u) << "nothing was measured yet";
  EXPECT_EQ(retry_after(queue(0, 0, 5'000'000)), 1u);
  EXPECT_EQ(retry_after(queue(0, 2, 5'000'000)), 10u) << "nothing runs this very moment";
  EXPECT_EQ(retry_after(queue(16, 256, 10'000'000)), 60u);
}

}  // namespace
}  // namespace halogen::api
