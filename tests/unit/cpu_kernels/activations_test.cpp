// Quantised activations and the conversions between float formats.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/unit/cpu_kernels/random_blocks.h"

namespace halogen::cpu::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class Activations : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const KernelSet& set_ = kernels(GetParam());
};

TEST_P(Activations, RoundToTheNearestOf127Steps) {
  std::mt19937 random(2);
  const auto x = random_floats(1024, random);
  std::vector<Q8Block> blocks(32);
  std::vector<Q8SuperBlock> superblocks(4);
  set_.quantise_q8_blocks(x.data(), x.size(), blocks.data());
  set_.quantise_q8_superblocks(x.data(), x.size(), superblocks.data());
  const auto largest = [&](size_t from, size_t n) {
    float magnitude = 0;
    for (size_t i = from; i < from + n; ++i) magnitude = std::max(magnitude, std::fabs(x[i]));
    return magnitude;
  };
  for (size_t i = 0; i < x.size(); ++i) {
    const Q8Block& block = blocks[i / 32];
    const Q8SuperBlock& superblock = superblocks[i / 256];
    EXPECT_EQ(block.scale, largest(i / 32 * 32, 32) / 127.0f);
    EXPECT_EQ(superblock.scale, largest(i / 256 * 256, 256) / 127.0f);
    EXPECT_NEAR(block.q[i % 32], x[i] / block.scale, 0.5001);
    EXPECT_NEAR(superblock.q[i % 256], x[i] / superblock.scale, 0.5001);
  }
  for (const Q8Block& block : blocks) {
    int sum = 0;
    for (const int8_t q : block.q) sum += q;
    EXPECT_EQ(block.sum, block.scale * static_cast<float>(sum));
  }
  for (const Q8SuperBlock& superblock : superblocks)
    for (int j = 0; j < 16; ++j) {
      int sum = 0;
      for (int i = 0; i < 16; ++i) sum += superblock.q[16 * j + i];
      EXPECT_EQ(superblock.sums[j], sum);
    }
}

TEST_P(Activations, RoundTiesToEven) {
  float x[32] = {127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f};
  Q8Block block;
  set_.quantise_q8_blocks(x, 32, &block);
  const int8_t expected[7] = {127, 0, 2, 2, 0, -2, -2};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(block.q[i], expected[i]) << i;
  EXPECT_EQ(block.scale, 1.0f);
}

TEST_P(Activations, OfZeroAndOfTinyBlocksAreZero) {
  for (const float value : {0.0f, -0.0f, 1e-40f, 0x1p-101f}) {
    std::vector<float> x(256, value);
    Q8Block block;
    Q8SuperBlock superblock;
    set_.quantise_q8_blocks(x.data(), 32, &block);
    set_.quantise_q8_superblocks(x.data(), 256, &superblock);
    EXPECT_EQ(block.scale, 0.0f);
    EXPECT_EQ(block.sum, 0.0f);
    EXPECT_EQ(superblock.scale, 0.0f);
    for (const int8_t q : block.q) EXPECT_EQ(q, 0);
    for (const int8_t q : superblock.q) EXPECT_EQ(q, 0);
  }
}

TEST_P(Activations, AtTheEndsOfTheRangeStayExact) {
  for (const float value : {0x1p-100f, 1e-20f, 3.4e38f}) {
    std::vector<float> x(32, value);
    x[1] = -value;
    Q8Block block;
    set_.quantise_q8_blocks(x.data(), 32, &block);
    EXPECT_EQ(block.q[0], 127);
    EXPECT_EQ(block.q[1], -127);
    EXPECT_FLOAT_EQ(block.scale * 127.0f, value);
  }
}

TEST_P(Activations, NonFiniteValuesMakeTheirBlockNaN) {
  for (const float bad : {kInfinity, -kInfinity, kNaN, -kNaN}) {
    std::vector<float> x(512, 1.0f);
    x[300] = bad;
    std::vector<Q8Block> blocks(16);
    std::vector<Q8SuperBlock> superblocks(2);
    set_.quantise_q8_blocks(x.data(), x.size(), blocks.data());
    set_.quantise_q8_superblocks(x.data(), x.size(), superblocks.data());
    for (size_t b = 0; b < 16; ++b) EXPECT_EQ(std::isnan(blocks[b].scale), b == 9);
    EXPECT_TRUE(std::isnan(blocks[9].sum));
    EXPECT_FALSE(std::isnan(superblocks[0].scale));
    EXPECT_TRUE(std::isnan(superblocks[1].scale));
  }
}

TEST_P(Activations, HaveThePortableBits) {
  std::mt19937 random(3);
  const KernelSet& portable = kernels(InstructionSet::kPortable);
  for (int round = 0; round < 50; ++round) {
    const auto x = random_floats(4096, random, std::exp2f(static_cast<float>(round - 25)));
    for (const auto format : {ActivationFormat::kQ8Block, ActivationFormat::kQ8SuperBlock})
      EXPECT_EQ(make_activations(set_, format, x, 4096).bytes,
                make_activations(portable, format, x, 4096).bytes);
  }
}

TEST_P(Activations, EveryHalfSurvivesTheWayThroughF32) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  std::vector<float> values(halves.size());
  std::vector<uint16_t> back(halves.size());
  set_.f16_to_f32(halves.data(), halves.size(), values.data());
  set_.f32_to_f16(values.data(), values.size(), back.data());
  for (size_t i = 0; i < halves.size(); ++i) {
    const size_t magnitude = i & 0x7fff;
    if (magnitude > 0x7c00) {
      EXPECT_TRUE(std::isnan(values[i])) << i;
      EXPECT_GT(back[i] & 0x7fff, 0x7c00) << i;
      continue;
    }
    const int exponent = static_cast<int>(magnitude >> 10);
    const auto fraction = static_cast<float>(magnitude & 0x3ff);
    float expected = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? kInfinity
                                      : std::ldexp(1024.0f + fraction, exponent - 25);
    if (i & 0x8000) expected = -expected;
    EXPECT_EQ(values[i], expected) << i;
    EXPECT_EQ(back[i], i);
  }
}

TEST_P(Activations, ShortFloatsRoundToNearestEven) {
  struct Case {
    float value;
    uint16_t f16;
    uint16_t bf16;
  };
  const Case cases[] = {
      {1.0f, 0x3c00, 0x3f80},
      {1.0f + 0x1p-11f, 0x3c00, 0x3f80},      // F16 tie, down to even
      {1.0f + 3 * 0x1p-11f, 0x3c02, 0x3f80},  // F16 tie, up to even
      {1.0f + 0x1p-8f, 0x3c04, 0x3f80},       // BF16 tie, down to even
      {1.0f + 3 * 0x1p-8f, 0x3c0c, 0x3f82},   // BF16 tie, up to even
      {65519.0f, 0x7bff, 0x4780},
      {65520.0f, 0x7c00, 0x4780},  // above the largest half by half a step
      {0x1p-24f, 0x0001, 0x3380},
      {0x1p-25f, 0x0000, 0x3300},  // tie between zero and the least subnormal
      {0x1.8p-24f, 0x0002, 0x33c0},
      {-0.0f, 0x8000, 0x8000},
      {kInfinity, 0x7c00, 0x7f80},
      {3.4028235e38f, 0x7c00, 0x7f80},
  };
  for (const Case& c : cases) {
    uint16_t f16;
    uint16_t bf16;
    set_.f32_to_f16(&c.value, 1, &f16);
    set_.f32_to_bf16(&c.value, 1, &bf16);
    EXPECT_EQ(f16, c.f16) << c.value;
    EXPECT_EQ(bf16, c.bf16) << c.value;
  }
  uint16_t bf16;
  float back;
  set_.f32_to_bf16(&kNaN, 1, &bf16);
  set_.bf16_to_f32(&bf16, 1, &back);
  EXPECT_TRUE(std::isnan(back));
}

INSTANTIATE_TEST_SUITE_P(Sets, Activations, ::testing::ValuesIn(available_sets()),
                         [](const auto& set) { return instruction_set_name(set.param); });

}  // namespace
}  // namespace halogen::cpu::testing
