#include "core/bench/perplexity.h"

#include <cmath>

#include <gtest/gtest.h>

namespace halogen::bench {
namespace {

TEST(LogProbability, IsThatOfTheSoftmax) {
  // exp(0), exp(ln 3): shares of 1/4 and 3/4.
  const float logits[] = {0.0F, std::log(3.0F)};
  EXPECT_NEAR(log_probability(logits, 2, 0), std::log(0.25), 1e-7);
  EXPECT_NEAR(log_probability(logits, 2, 1), std::log(0.75), 1e-7);
}

TEST(LogProbability, LargeLogitsDoNotOverflow) {
  const float logits[] = {1000.0F, 1000.0F};
  EXPECT_DOUBLE_EQ(log_probability(logits, 2, 1), std::log(0.5));
}

}  // namespace
}  // namespace halogen::bench
