#include "core/engine/step_builder.h"

#include <gtest/gtest.h>

namespace halogen {
namespace {

template <typename T>
std::vector<T> list(const T* data, size_t n) {
  return {data, data + n};
}

EngineLimits limits_of_a_small_step() {
  EngineLimits limits;
  limits.vocabulary_size = 10;
  limits.block_tokens = 4;
  limits.total_blocks = 20;
  limits.max_context = 12;
  limits.max_batch_tokens = 16;
  limits.max_sequences = 3;
  return limits;
}

TEST(StepBuilder, WritesAChunkADecodeAndTheEndOfAPrompt) {
  Sequence chunk, decode, end;
  chunk.tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  chunk.computed = 3;
  chunk.blocks = {7, 2};
  decode.tokens = {5, 6, 7, 8, 9};
  decode.prompt_tokens = 3;
  decode.computed = 4;
  decode.blocks = {1, 0};
  decode.state_slot = 2;
  end.tokens = {3, 4};
  end.blocks = {9};
  end.state_slot = 1;

  StepBuilder builder(limits_of_a_small_step(), true);
  builder.add(chunk, 3);
  builder.add(decode, 1);
  builder.add(end, 2);
  const halogen_step& step = builder.step();

  EXPECT_EQ(step.n_tokens, 6U);
  EXPECT_EQ(step.n_sequences, 3U);
  EXPECT_EQ(list(step.token_ids, 6), (std::vector<int32_t>{4, 5, 6, 9, 3, 4}));
  EXPECT_EQ(list(step.positions, 6), (std::vector<int32_t>{3, 4, 5, 4, 0, 1}));
  EXPECT_EQ(list(step.kv_slots, 6), (std::vector<uint32_t>{31, 8, 9, 0, 36, 37}));
  EXPECT_EQ(list(step.sequence_starts, 4), (std::vector<uint32_t>{0, 3, 4, 6}));
  EXPECT_EQ(list(step.context_lengths, 3), (std::vector<uint32_t>{6, 5, 2}));
  EXPECT_EQ(step.block_table_stride, 3U);
  EXPECT_EQ(list(step.block_tables, 2), (std::vector<uint32_t>{7, 2}));
  EXPECT_EQ(list(step.block_tables + 3, 2), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(list(step.block_tables + 6, 1), (std::vector<uint32_t>{9}));
  EXPECT_EQ(list(step.state_slots, 3), (std::vector<uint32_t>{0, 2, 1}));
  // The chunk's prompt goes on in a later step, so nothing is sampled for it.
  ASSERT_EQ(step.n_rows, 2U);
  EXPECT_EQ(list(step.rows, 2), (std::vector<int32_t>{3, 5}));
  EXPECT_FALSE(builder.parts()[0].has_row);
}

TEST(StepBuilder, BeginsAgainAfterClear) {
  Sequence sequence;
  sequence.tokens = {8};
  sequence.blocks = {3};
  StepBuilder builder(limits_of_a_small_step(), false);
  builder.add(sequence, 1);
  builder.clear();
  EXPECT_TRUE(builder.empty());
  builder.add(sequence, 1);
  const halogen_step& step = builder.step();
  EXPECT_EQ(step.n_tokens, 1U);
  EXPECT_EQ(list(step.sequence_starts, 2), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(step.state_slots, nullptr);
}

}  // namespace
}  // namespace halogen
