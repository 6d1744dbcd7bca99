#include "core/bench/offline.h"

#include <gtest/gtest.h>

namespace halogen::bench {
namespace {

constexpr MachineSpeed kMachine{100, 1000, 10};

TEST(LeastSeconds, IsTheMemorysWhereReadingTakesLonger) {
  bool memory_bound = false;
  EXPECT_DOUBLE_EQ(least_seconds({500, 1000, 10}, kMachine, &memory_bound), 5);
  EXPECT_TRUE(memory_bound);
}

TEST(LeastSeconds, IsTheSumOfBothKindsOfProductsWhereComputingTakesLonger) {
  bool memory_bound = true;
  EXPECT_DOUBLE_EQ(least_seconds({500, 4000, 30}, kMachine, &memory_bound), 7);
  EXPECT_FALSE(memory_bound);
}

TEST(OfflineOptions, TheModelIsLoadedForTheLongestRow) {
  OfflineOptions options;
  options.prefills = {512};
  options.depths = {0, 4096};
  options.batches = {1, 8};
  options.tokens = 64;
  EXPECT_EQ(options.longest_context(), 4160U);
  EXPECT_EQ(options.largest_batch(), 8U);
  EXPECT_EQ(options.row_count(), 5U);
  options.batches.clear();
  EXPECT_EQ(options.longest_context(), 512U);
}

TEST(OfflineRow, ItsShareIsOfItsCeiling) {
  OfflineRow row;
  row.rate = Summary::of({40});
  row.ceiling = 50;
  EXPECT_DOUBLE_EQ(row.share(), 0.8);
}

}  // namespace
}  // namespace halogen::bench
