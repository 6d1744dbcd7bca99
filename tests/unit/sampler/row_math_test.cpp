// The passes over a row, in every instruction set: exact where they promise it, and alike to the
// bit.
#include "plugins/sampler/row_math.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sampling {
namespace {

using sampler::RowMath;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<const RowMath*> sets() {
  std::vector<const RowMath*> all = {&sampler::kPortableRowMath};
  if (&sampler::row_math() != all[0]) all.push_back(&sampler::row_math());
  return all;
}

std::vector<float> random_row(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 8);
  std::vector<float> row(size);
  for (float& value : row) value = normal(random);
  return row;
}

TEST(RowMath, CleanMakesEveryLogitUsable) {
  for (const RowMath* math : sets()) {
    for (const size_t size : {1U, 7U, 32U, 45U}) {
      std::vector<float> row(size, -3);
      row[0] = std::nanf("");
      EXPECT_EQ(math->clean(row.data(), size), size == 1 ? -kInfinity : -3) << math->name;
      EXPECT_EQ(row[0], -kInfinity);
      row[size - 1] = kInfinity;
      EXPECT_EQ(math->clean(row.data(), size), std::numeric_limits<float>::max());
      EXPECT_EQ(row[size - 1], std::numeric_limits<float>::max());
    }
  }
}

TEST(RowMath, WeightsAreExponentials) {
  for (const RowMath* math : sets()) {
    std::vector<float> logits, weights(9000);
    for (int i = 0; i < 9000; i++) logits.push_back(-static_cast<float>(i) / 100);
    const double sum = math->weigh(logits.data(), logits.size(), 0, 1, weights.data());
    double expected_sum = 0;
    for (size_t i = 0; i < logits.size(); i++) {
      const double expected = std::exp(double{logits[i]});
      expected_sum += expected;
      if (logits[i] >= -87) {
        EXPECT_NEAR(weights[i], expected, 2e-7 * expected) << logits[i];
      } else {
        EXPECT_EQ(weights[i], 0) << logits[i];
      }
    }
    EXPECT_EQ(weights[0], 1);
    EXPECT_NEAR(sum, expected_sum, 1e-7 * expected_sum);
  }
}

TEST(RowMath, ABannedLogitWeighsNothingWhateverTheTemperature) {
  for (const RowMath* math : sets()) {
    const std::vector<float> logits = {-kInfinity, 0, -1e30F};
    for (const float inverse : {1e-30F, 1.0F, 1e30F}) {
      std::vector<float> weights(3);
      math->weigh(logits.data(), 3, 0, inverse, weights.data());
      EXPECT_EQ(weights[0], 0);
      EXPECT_EQ(weights[1], 1);
      EXPECT_TRUE(std::isfinite(math->moment(logits.data(), weights.data(), 3, 0)));
    }
  }
}

TEST(RowMath, FindsWhatABoundLeaves) {
  for (const RowMath* math : sets()) {
    for (const size_t size : {1U, 31U, 32U, 100U, 1000U}) {
      const std::vector<float> row = random_row(size, static_cast<unsigned>(size));
      for (const float bound : {-100.0F, 0.0F, row[size / 2], 15.0F, 100.0F}) {
        std::vector<int32_t> expected, places(size);
        for (size_t i = 0; i < size; i++)
          if (row[i] >= bound) expected.push_back(static_cast<int32_t>(i));
        places.resize(math->places_from(row.data(), size, bound, places.data()));
        EXPECT_EQ(places, expected);
        std::vector<int32_t> from;
        for (size_t i = 0; (i = math->find_from(row.data(), i, size, bound)) < size; i++)
          from.push_back(static_cast<int32_t>(i));
        EXPECT_EQ(from, expected);
        std::vector<int32_t> above;
        for (size_t i = 0; (i = math->find_above(row.data(), i, size, bound)) < size; i++)
          above.push_back(static_cast<int32_t>(i));
        std::erase_if(expected, [&](int32_t i) { return row[static_cast<size_t>(i)] == bound; });
        EXPECT_EQ(above, expected);
      }
    }
  }
}

TEST(RowMath, AllInstructionSetsGiveTheSameBits) {
  const RowMath &a = sampler::kPortableRowMath, &b = sampler::row_math();
  for (const size_t size : {1U, 5U, 8U, 33U, 1000U, 4099U}) {
    std::vector<float> row = random_row(size, 3);
    if (size > 4) row[3] = std::nanf("");
    std::vector<float> other = row;
    const float largest = a.clean(row.data(), size);
    ASSERT_EQ(b.clean(other.data(), size), largest);
    ASSERT_EQ(std::memcmp(row.data(), other.data(), size * sizeof(float)), 0);
    std::vector<float> weights(size), others(size);
    ASSERT_EQ(a.weigh(row.data(), size, largest, 1.25F, weights.data()),
              b.weigh(row.data(), size, largest, 1.25F, others.data()));
    ASSERT_EQ(std::memcmp(weights.data(), others.data(), size * sizeof(float)), 0);
    ASSERT_EQ(a.moment(row.data(), weights.data(), size, largest),
              b.moment(row.data(), weights.data(), size, largest));
    const RowMath::Spread one = a.spread(row.data(), size, 0.5F);
    const RowMath::Spread two = b.spread(row.data(), size, 0.5F);
    ASSERT_EQ(one.count, two.count);
    ASSERT_EQ(one.sum, two.sum);
    ASSERT_EQ(one.squares, two.squares);
  }
}

}  // namespace
}  // namespace sampling
