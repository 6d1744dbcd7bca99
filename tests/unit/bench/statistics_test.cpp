#include "core/bench/statistics.h"

#include <gtest/gtest.h>

namespace halogen::bench {
namespace {

TEST(Statistics, APercentileLiesBetweenTheSamplesInProportion) {
  EXPECT_DOUBLE_EQ(percentile({40, 10, 30, 20}, 50), 25);
  EXPECT_DOUBLE_EQ(percentile({40, 10, 30, 20}, 90), 37);
  EXPECT_DOUBLE_EQ(percentile({40, 10, 30, 20}, 0), 10);
  EXPECT_DOUBLE_EQ(percentile({40, 10, 30, 20}, 100), 40);
}

TEST(Statistics, NoSamplesGiveNothing) {
  EXPECT_EQ(percentile({}, 50), 0);
}

TEST(Statistics, ASummaryTellsHowFarTheExtremesLieApart) {
  const Summary summary = Summary::of({12, 8, 10});
  EXPECT_DOUBLE_EQ(summary.median, 10);
  EXPECT_DOUBLE_EQ(summary.spread(), 0.4);
}

}  // namespace
}  // namespace halogen::bench
