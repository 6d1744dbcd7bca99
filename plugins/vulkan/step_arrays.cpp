#include "plugins/vulkan/step_arrays.h"

#include <algorithm>
#include <cstring>

namespace halogen::vulkan {
namespace {

uint32_t blocks_of_context(const halogen_limits& limits, uint32_t block_tokens) {
  return groups_of(limits.max_context, block_tokens);
}

// Takes one array after the other from a span.
class Taker {
 public:
  explicit Taker(const Span& span) : span_(span) {}
  Span take(uint64_t bytes) {
    const Span taken = span_.part(used_, bytes);
    used_ += MemoryPool::aligned(bytes);
    return taken;
  }

 private:
  Span span_;
  uint64_t used_ = 0;
};

void put(const Span& to, const void* from, uint64_t bytes) {
  if (bytes > 0) std::memcpy(to.host, from, bytes);
}

}  // namespace

uint64_t StepArrays::bytes(const halogen_limits& limits, uint32_t block_tokens) {
  constexpr uint64_t kArrays = 9;
  const uint64_t words =
      uint64_t{4} * limits.max_tokens + limits.max_rows +
      uint64_t{limits.max_sequences} * (1 + blocks_of_context(limits, block_tokens));
  return sizeof(StepTables) + words * sizeof(uint32_t) + limits.max_tokens * sizeof(QueryTile) +
         kArrays * MemoryPool::kAlignment;
}

StepArrays::StepArrays(const Span& memory, const halogen_limits& limits, uint32_t block_tokens)
    : block_tokens_(block_tokens), table_stride_(blocks_of_context(limits, block_tokens)) {
  Taker taker(memory);
  const auto words = [&](uint64_t count) { return taker.take(count * sizeof(uint32_t)); };
  tables_ = taker.take(sizeof(StepTables));
  token_ids_ = words(limits.max_tokens);
  positions_ = words(limits.max_tokens);
  kv_slots_ = words(limits.max_tokens);
  sequences_ = words(limits.max_tokens);
  rows_ = words(limits.max_rows);
  contexts_ = words(limits.max_sequences);
  blocks_ = words(uint64_t{limits.max_sequences} * table_stride_);
  tiles_ = taker.take(limits.max_tokens * sizeof(QueryTile));
}

uint32_t StepArrays::fill(const halogen_step& step, uint32_t tile_tokens,
                          uint32_t split_positions) {
  const auto words = [](uint64_t count) { return count * sizeof(uint32_t); };
  put(token_ids_, step.token_ids, words(step.n_tokens));
  put(positions_, step.positions, words(step.n_tokens));
  put(kv_slots_, step.kv_slots, words(step.n_tokens));
  put(rows_, step.rows, words(step.n_rows));
  put(contexts_, step.context_lengths, words(step.n_sequences));
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    for (uint32_t t = step.sequence_starts[s]; t < step.sequence_starts[s + 1]; t++)
      std::memcpy(sequences_.host + words(t), &s, sizeof s);
    const uint32_t blocks = groups_of(step.context_lengths[s], block_tokens_);
    put(blocks_.part(words(uint64_t{s} * table_stride_), words(blocks)),
        step.block_tables + uint64_t{s} * step.block_table_stride, words(blocks));
  }
  StepTables tables{};
  tables.positions = positions_.address;
  tables.kv_slots = kv_slots_.address;
  tables.token_sequences = sequences_.address;
  tables.context_lengths = contexts_.address;
  tables.block_tables = blocks_.address;
  tables.query_tiles = tiles_.address;
  tables.block_table_stride = table_stride_;
  tables.n_tokens = step.n_tokens;
  tables.n_rows = step.n_rows;
  tables.n_query_tiles = tile_tokens == 0 ? 0 : fill_tiles(step, tile_tokens);
  tables.split_positions = split_positions;
  put(tables_, &tables, sizeof tables);
  return tables.n_query_tiles;
}

uint32_t StepArrays::fill_tiles(const halogen_step& step, uint32_t tile_tokens) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    const uint32_t end = step.sequence_starts[s + 1];
    for (uint32_t t = step.sequence_starts[s]; t < end; t += tile_tokens) {
      const QueryTile tile{s, t, std::min(tile_tokens, end - t)};
      std::memcpy(tiles_.host + count * sizeof tile, &tile, sizeof tile);
      count++;
    }
  }
  return count;
}

}  // namespace halogen::vulkan
