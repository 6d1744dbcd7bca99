// How a step's attention is cut into units of work.
#include "plugins/cpu/attend_schedule.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace halogen::cpu {
namespace {

using Mode = AttentionChoice::Mode;

constexpr uint32_t kWhole = AttendSchedule::kWhole;

// The arrays of a step, sequence by sequence.
class Steps {
 public:
  // `tokens` tokens that end at position `length` - 1.
  Steps& add(uint32_t tokens, uint32_t length) {
    for (uint32_t t = 0; t < tokens; t++)
      positions_.push_back(static_cast<int32_t>(length - tokens + t));
    starts_.push_back(static_cast<uint32_t>(positions_.size()));
    lengths_.push_back(length);
    return *this;
  }
  halogen_step step() const {
    halogen_step step{};
    step.n_tokens = static_cast<uint32_t>(positions_.size());
    step.n_sequences = static_cast<uint32_t>(lengths_.size());
    step.positions = positions_.data();
    step.sequence_starts = starts_.data();
    step.context_lengths = lengths_.data();
    return step;
  }

 private:
  std::vector<int32_t> positions_;
  std::vector<uint32_t> starts_ = {0}, lengths_;
};

class AttendScheduleTest : public ::testing::Test {
 protected:
  AttendSchedule schedule(unsigned members, uint32_t window = 0, bool causal = true) const {
    return {{8, 2, 64, 64, window, causal}, {sizeof(halogen_limits), 512, 8, 8, 4096}, members};
  }
  void choose(Mode mode, uint32_t threshold = 0) {
    choice_.mode = mode;
    choice_.threshold = threshold;
  }
  AttentionChoice choice_;
};

TEST_F(AttendScheduleTest, EveryTokenIsInOneTileOfItsSequence) {
  AttendSchedule schedule = this->schedule(1);
  schedule.prepare(Steps().add(40, 40).add(1, 7).add(3, 900).step(), choice_);
  std::vector<uint32_t> seen(44);
  for (const AttendSchedule::Unit& unit : schedule.units()) {
    const AttendSchedule::Tile& tile = schedule.tile(unit.tile);
    EXPECT_EQ(unit.chunk, kWhole);
    EXPECT_LE(tile.n_tokens, 16U);  // 64 rows of 4 heads
    for (uint32_t t = tile.token; t < tile.token + tile.n_tokens; t++) {
      seen[t]++;
      EXPECT_EQ(tile.sequence, t < 40 ? 0U : t == 40 ? 1U : 2U);
      EXPECT_EQ(&schedule.tile_of(t), &tile);
    }
  }
  EXPECT_EQ(seen, std::vector<uint32_t>(44, 1));
}

TEST_F(AttendScheduleTest, TheWayGoesByATokensOwnPositions) {
  choose(Mode::automatic, 100);
  AttendSchedule schedule = this->schedule(1);
  schedule.prepare(Steps().add(120, 120).add(1, 99).add(1, 100).step(), choice_);
  EXPECT_EQ(schedule.tile_of(98).way, AttendWay::plain);  // it sees 99
  EXPECT_EQ(schedule.tile_of(99).way, AttendWay::flash);
  EXPECT_EQ(schedule.tile_of(120).way, AttendWay::plain);
  EXPECT_EQ(schedule.tile_of(121).way, AttendWay::flash);
  choose(Mode::flash, 4000);
  schedule.prepare(Steps().add(1, 1).step(), choice_);
  EXPECT_EQ(schedule.tile_of(0).way, AttendWay::flash);
  choose(Mode::plain, 0);
  schedule.prepare(Steps().add(1, 4096).step(), choice_);
  EXPECT_EQ(schedule.tile_of(0).way, AttendWay::plain);
}

TEST_F(AttendScheduleTest, AWindowCountsItsOwnPositions) {
  choose(Mode::automatic, 200);
  AttendSchedule schedule = this->schedule(4, 199);
  schedule.prepare(Steps().add(1, 4096).step(), choice_);
  EXPECT_EQ(schedule.tile_of(0).way, AttendWay::plain);
  EXPECT_EQ(*schedule.first(0), 4096U - 199);
  EXPECT_EQ(*schedule.last(0), 4095U);
  schedule.prepare(Steps().add(1, 150).step(), choice_);
  EXPECT_EQ(*schedule.first(0), 0U);
}

TEST_F(AttendScheduleTest, WithoutCauseEveryTokenSeesTheWholeContext) {
  AttendSchedule schedule = this->schedule(1, 0, false);
  schedule.prepare(Steps().add(30, 30).step(), choice_);
  for (uint32_t t = 0; t < 30; t++) EXPECT_EQ(*schedule.last(t), 29U);
}

TEST_F(AttendScheduleTest, OneLongSequenceIsSplitOverTheThreads) {
  AttendSchedule schedule = this->schedule(8);
  schedule.prepare(Steps().add(1, 1000).step(), choice_);
  ASSERT_EQ(schedule.units().size(), 4U);  // chunks of 256
  std::vector<uint32_t> chunks;
  for (const AttendSchedule::Unit& unit : schedule.units()) chunks.push_back(unit.chunk);
  std::sort(chunks.begin(), chunks.end());
  EXPECT_EQ(chunks, (std::vector<uint32_t>{0, 1, 2, 3}));
  // Each chunk and head has rows of its own among the partials.
  const AttendSchedule::Tile& tile = schedule.tile_of(0);
  std::vector<uint32_t> rows;
  for (uint32_t chunk = 0; chunk < 4; chunk++)
    for (const uint32_t kv_head : {0U, 1U})
      rows.push_back(schedule.partial_row(tile, chunk, kv_head));
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 4, 8, 12, 16, 20, 24, 28}));
  EXPECT_LE(32U, schedule.partial_rows());
}

TEST_F(AttendScheduleTest, NothingIsSplitForOneThreadNorInThePlainWayNorWhenThereIsEnoughToDo) {
  AttendSchedule one = this->schedule(1), two = this->schedule(2);
  one.prepare(Steps().add(1, 4000).step(), choice_);
  EXPECT_EQ(one.units().size(), 1U);
  Steps eight;
  for (int i = 0; i < 8; i++) eight.add(1, 2000);
  two.prepare(eight.step(), choice_);
  EXPECT_EQ(two.units().size(), 8U);
  choose(Mode::plain);
  two.prepare(Steps().add(1, 4000).step(), choice_);
  EXPECT_EQ(two.units().size(), 1U);
}

TEST_F(AttendScheduleTest, TheLargestUnitsComeFirst) {
  AttendSchedule schedule = this->schedule(2);
  schedule.prepare(Steps().add(1, 10).add(1, 3000).add(64, 64).add(1, 500).step(), choice_);
  EXPECT_TRUE(std::is_sorted(schedule.units().begin(), schedule.units().end(),
                             [](const auto& a, const auto& b) { return a.cost > b.cost; }));
}

// As many long sequences as a step may have: what does not fit the partials stays whole.
TEST_F(AttendScheduleTest, PartialsAreNeverExceeded) {
  AttendSchedule schedule = this->schedule(32);
  Steps steps;
  for (int i = 0; i < 8; i++) steps.add(60, 4096);
  schedule.prepare(steps.step(), choice_);
  for (uint32_t t = 0; t < 480; t++) {
    const AttendSchedule::Tile& tile = schedule.tile_of(t);
    if (tile.partial_row == kWhole) continue;
    EXPECT_LE(tile.partial_row + tile.chunks * tile.n_tokens * 8, schedule.partial_rows());
  }
}

// Every row of scores of the plain way has room.
TEST_F(AttendScheduleTest, PlainTilesFitTheScratch) {
  choose(Mode::plain);
  AttendSchedule schedule = this->schedule(1);
  schedule.prepare(Steps().add(300, 300).add(200, 4096).step(), choice_);
  for (const AttendSchedule::Unit& unit : schedule.units()) {
    const AttendSchedule::Tile& tile = schedule.tile(unit.tile);
    const uint32_t last = *schedule.last(tile.token + tile.n_tokens - 1);
    EXPECT_LE(tile.n_tokens * 4 * plain_score_stride(*schedule.first(tile.token), last + 1),
              schedule.scratch().score_floats);
    EXPECT_LE(tile.n_tokens * 4, schedule.scratch().rows);
  }
}

}  // namespace
}  // namespace halogen::cpu
