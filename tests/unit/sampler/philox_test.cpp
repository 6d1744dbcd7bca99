#include "plugins/sampler/philox.h"

#include <gtest/gtest.h>

namespace sampler {
namespace {

// Known answers published with Random123, the authors' own library (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformUsesTheFirst53BitsOfTheCounter) {
  EXPECT_EQ(uniform(0, 0), static_cast<double>(0xe169c58d6627e8d5 >> 11) / 9007199254740992.0);
}

TEST(Philox, BothHalvesOfSeedAndIndexMatter) {
  EXPECT_NE(uniform(1, 0), uniform(uint64_t{1} << 32, 0));
  EXPECT_NE(uniform(0, 1), uniform(0, uint64_t{1} << 32));
}

}  // namespace
}  // namespace sampler
