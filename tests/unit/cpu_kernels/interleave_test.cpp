// The layout of interleaved weights, byte by byte.
#include "plugins/cpu/kernels/interleave.h"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/cpu_kernels/random_blocks.h"

namespace halogen::cpu::testing {
namespace {

// Two rows of one block of 18 bytes: a scale of 16 bits, then words.
TEST(Interleave, PutsUnitsOfAllRowsSideBySide) {
  std::vector<uint8_t> rows(36);
  std::iota(rows.begin(), rows.end(), uint8_t{0});
  const Interleaving to = {HALOGEN_Q4_0, 2, 32, 2};
  ASSERT_EQ(to.bytes(), 36U);
  std::vector<uint8_t> panel(36);
  interleave_panel(to, rows.data(), 0, panel.data());
  EXPECT_EQ(panel, (std::vector<uint8_t>{0,  1,  18, 19,                  //
                                         2,  3,  4,  5,  20, 21, 22, 23,  //
                                         6,  7,  8,  9,  24, 25, 26, 27,  //
                                         10, 11, 12, 13, 28, 29, 30, 31,  //
                                         14, 15, 16, 17, 32, 33, 34, 35}));
}

// Q6_K has its 16 bits at the end of 210 bytes, MXFP4 8 bits at the front of 17.
TEST(Interleave, KeepsOddUnitsWhereTheFormatHasThem) {
  std::vector<uint8_t> rows(420);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint8_t>(i % 210 + i / 210 * 20);
  std::vector<uint8_t> panel(420);
  interleave_panel({HALOGEN_Q6_K, 2, 256, 2}, rows.data(), 0, panel.data());
  EXPECT_EQ((std::vector<uint8_t>{panel.begin() + 416, panel.end()}),
            (std::vector<uint8_t>{rows[208], rows[209], rows[418], rows[419]}));

  interleave_panel({HALOGEN_MXFP4, 2, 32, 2}, rows.data(), 0, panel.data());
  EXPECT_EQ((std::vector<uint8_t>{panel.begin(), panel.begin() + 10}),
            (std::vector<uint8_t>{rows[0], rows[17], rows[1], rows[2], rows[3], rows[4], rows[18],
                                  rows[19], rows[20], rows[21]}));
}

TEST(Interleave, FillsMissingRowsWithZeros) {
  const std::vector<uint8_t> rows(18, 7);
  std::vector<uint8_t> panel(4 * 18, 1);
  interleave_panel({HALOGEN_Q4_0, 1, 32, 4}, rows.data(), 0, panel.data());
  EXPECT_EQ(panel[1], 7);
  EXPECT_EQ(panel[2], 0);
  EXPECT_EQ(panel.back(), 0);
}

TEST(Interleave, GivesBackEveryBlock) {
  std::mt19937 random(1);
  for (const halogen_type type : kQuantisedTypes)
    for (const size_t panel_rows : {8, 16}) {
      const halogen_type_traits& traits = *halogen_type_find(type);
      const Interleaving layout = {type, 19, 3 * size_t{traits.block_elements}, panel_rows};
      const std::vector<uint8_t> rows = random_weights(type, layout.n_rows * layout.k, random);
      std::vector<uint8_t> panels(layout.bytes());
      for (size_t panel = 0; panel < layout.panels(); ++panel)
        interleave_panel(layout, rows.data(), panel, &panels[panel * layout.panel_bytes()]);
      std::vector<uint8_t> back(rows.size());
      for (size_t row = 0; row < layout.n_rows; ++row)
        for (size_t block = 0; block < 3; ++block)
          read_interleaved_block(layout, panels.data(), row, block,
                                 &back[(row * 3 + block) * traits.block_bytes]);
      EXPECT_EQ(back, rows) << traits.name << " in panels of " << panel_rows;
    }
}

}  // namespace
}  // namespace halogen::cpu::testing
