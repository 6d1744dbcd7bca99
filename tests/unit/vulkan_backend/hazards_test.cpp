#include "plugins/vulkan/hazards.h"

#include <array>

#include <gtest/gtest.h>

namespace halogen::vulkan {
namespace {

constexpr std::array<Range, 0> kNothing{};
constexpr std::array kX{Range{0, 16}}, kY{Range{16, 32}}, kZ{Range{32, 48}}, kXEnd{Range{15, 16}};

TEST(Hazards, TheFirstDispatchWaitsForNothing) {
  EXPECT_FALSE(Hazards(false).barrier_before(kX, kY));
  EXPECT_FALSE(Hazards(true).barrier_before(kX, kY));
}

TEST(Hazards, AReaderWaitsForTheWriter) {
  Hazards hazards(false);
  hazards.barrier_before(kNothing, kX);
  EXPECT_FALSE(hazards.barrier_before(kY, kZ));
  EXPECT_TRUE(hazards.barrier_before(kXEnd, kNothing));
}

TEST(Hazards, AWriterWaitsForReadersAndWriters) {
  Hazards readers(false), writers(false);
  readers.barrier_before(kX, kNothing);
  EXPECT_TRUE(readers.barrier_before(kNothing, kXEnd));
  writers.barrier_before(kNothing, kX);
  EXPECT_TRUE(writers.barrier_before(kNothing, kX));
}

TEST(Hazards, ReadersOfTheSameDoNotWaitForEachOther) {
  Hazards hazards(false);
  hazards.barrier_before(kX, kY);
  EXPECT_FALSE(hazards.barrier_before(kX, kZ));
}

TEST(Hazards, ABarrierIsOneForAllBeforeIt) {
  Hazards hazards(false);
  hazards.barrier_before(kNothing, kX);
  hazards.barrier_before(kNothing, kY);
  EXPECT_TRUE(hazards.barrier_before(kX, kZ));
  EXPECT_FALSE(hazards.barrier_before(kY, kNothing));
  EXPECT_TRUE(hazards.barrier_before(kZ, kNothing));  // written behind that barrier
}

TEST(Hazards, AlwaysMeansBetweenAnyTwo) {
  Hazards hazards(true);
  hazards.barrier_before(kX, kNothing);
  EXPECT_TRUE(hazards.barrier_before(kY, kNothing));
}

}  // namespace
}  // namespace halogen::vulkan
