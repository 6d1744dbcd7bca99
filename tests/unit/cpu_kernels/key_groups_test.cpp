// The order of K in the pool, byte by byte.
#include "plugins/cpu/kernels/key_groups.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace halogen::cpu::testing {
namespace {

using Bytes = std::vector<uint8_t>;

// The bytes of a block of K whose rows are each written whole: row r holds r * 64, r * 64 + 1, ...
Bytes written(const KeyRows& layout) {
  Bytes keys(layout.block_tokens * layout.row_bytes);
  Bytes row(layout.row_bytes);
  for (uint32_t slot = 0; slot < layout.block_tokens; ++slot) {
    std::iota(row.begin(), row.end(), static_cast<uint8_t>(slot * 64));
    write_key(layout, keys.data(), slot, 0, row.size(), row.data());
  }
  return keys;
}

TEST(KeyGroups, PutAnElementOfAllPositionsSideBySide) {
  EXPECT_EQ(written({HALOGEN_F16, 4, 3}), (Bytes{0, 1, 64, 65, 128, 129,  //
                                                 2, 3, 66, 67, 130, 131}));
  EXPECT_EQ(written({HALOGEN_F32, 8, 2}), (Bytes{0, 1, 2, 3, 64, 65, 66, 67,  //
                                                 4, 5, 6, 7, 68, 69, 70, 71}));
}

// Two bytes of scale, then bytes, in each of two blocks.
TEST(KeyGroups, PutScalesAndBytesOfABlockSideBySide) {
  const Bytes keys = written({HALOGEN_Q4_0, 36, 2});
  EXPECT_EQ(Bytes(keys.begin(), keys.begin() + 8), (Bytes{0, 1, 64, 65, 2, 66, 3, 67}));
  EXPECT_EQ(Bytes(keys.begin() + 36, keys.begin() + 44), (Bytes{18, 19, 82, 83, 20, 84, 21, 85}));
}

TEST(KeyGroups, HoldSixteenPositionsAndTheLastOneWhatIsLeft) {
  const KeyRows layout = {HALOGEN_F16, 4, 18};
  Bytes keys(72);
  const Bytes row = {1, 2, 3, 4};
  write_key(layout, keys.data(), 15, 0, 4, row.data());
  write_key(layout, keys.data(), 17, 2, 2, &row[2]);
  EXPECT_EQ(Bytes(keys.begin() + 30, keys.begin() + 32), (Bytes{1, 2}));
  EXPECT_EQ(Bytes(keys.begin() + 62, keys.begin() + 64), (Bytes{3, 4}));
  EXPECT_EQ(Bytes(keys.begin() + 64, keys.end()), (Bytes{0, 0, 0, 0, 0, 0, 3, 4}));
}

TEST(KeyGroups, GiveBackEveryRow) {
  for (const auto& [type, row_bytes] :
       {std::pair(HALOGEN_F32, 40), {HALOGEN_F16, 26}, {HALOGEN_Q8_0, 68}, {HALOGEN_Q4_0, 54}})
    for (const uint32_t block_tokens : {1U, 8U, 16U, 40U}) {
      const KeyRows layout = {type, static_cast<size_t>(row_bytes), block_tokens};
      const Bytes keys = written(layout);
      for (uint32_t slot = 0; slot < block_tokens; ++slot) {
        Bytes expected(layout.row_bytes), row(layout.row_bytes);
        std::iota(expected.begin(), expected.end(), static_cast<uint8_t>(slot * 64));
        read_key(layout, keys.data(), slot, row.data());
        EXPECT_EQ(row, expected);
      }
    }
}

// Slots 14 to 17 of a block of 18 go to positions 2 to 5 of a group, two from each group.
TEST(KeyGroups, AreBroughtTogetherFromPieces) {
  const KeyRows layout = {HALOGEN_F16, 4, 18};
  Bytes keys(72), group(64);
  for (uint32_t slot = 14; slot < 18; ++slot) {
    const auto first = static_cast<uint8_t>(slot * 10);
    const Bytes row = {first, static_cast<uint8_t>(first + 1), static_cast<uint8_t>(first + 2),
                       static_cast<uint8_t>(first + 3)};
    write_key(layout, keys.data(), slot, 0, 4, row.data());
  }
  EXPECT_EQ(regroup_keys(layout, keys.data(), 14, 4, 2, group.data()), 2U);
  EXPECT_EQ(regroup_keys(layout, keys.data(), 16, 2, 4, group.data()), 2U);
  EXPECT_EQ(Bytes(group.begin(), group.begin() + 14),
            (Bytes{0, 0, 0, 0, 140, 141, 150, 151, 160, 161, 170, 171, 0, 0}));
  EXPECT_EQ(Bytes(group.begin() + 32, group.begin() + 46),
            (Bytes{0, 0, 0, 0, 142, 143, 152, 153, 162, 163, 172, 173, 0, 0}));
}

}  // namespace
}  // namespace halogen::cpu::testing
