#include "plugins/cpu/attend_schedule.h"

#include <algorithm>

namespace halogen::cpu {
namespace {

// Rows that share a converted panel of K or V: enough that converting costs little beside the
// products, few enough that queries, scores and results stay in the second cache.
constexpr uint32_t kTileRows = 64;
// Floats of scores that a thread has for the plain way, where one token does not need more.
constexpr size_t kPlainScores = size_t{128} << 10;
// A tile is split where it is more than this part of what a thread should get.
constexpr uint64_t kUnitsPerMember = 2;

uint32_t most_chunks(const halogen_limits& limits) {
  return (limits.max_context + kFlashChunk - 1) / kFlashChunk;
}

}  // namespace

AttendSchedule::AttendSchedule(const AttendShape& shape, const halogen_limits& limits,
                               unsigned members)
    : shape_(shape),
      tile_tokens_(std::max(1U, kTileRows / shape.group())),
      partial_rows_(0),
      members_(members),
      first_(limits.max_tokens),
      last_(limits.max_tokens),
      token_tiles_(limits.max_tokens) {
  const uint32_t rows = tile_tokens_ * shape.group();
  const size_t whole_row = attend_aligned(size_t{limits.max_context} + kAttendAlignment);
  scratch_ = {rows, shape.key_dim, shape.value_dim,
              std::max({size_t{rows} * kFlashChunk, shape.group() * whole_row,
                        std::min(kPlainScores, rows * whole_row)})};
  uint32_t chunks = 0;
  if (members > 1) {
    // With more tiles than that there are units enough without splitting.
    const auto split =
        static_cast<uint32_t>((kUnitsPerMember * members + shape.kv_heads - 1) / shape.kv_heads);
    chunks = std::min(split, limits.max_sequences) * most_chunks(limits);
    partial_rows_ = chunks * shape.heads;
  }
  tiles_.reserve(limits.max_tokens);
  units_.reserve(size_t{limits.max_tokens} + chunks);
}

void AttendSchedule::prepare(const halogen_step& step, const AttentionChoice& choice) {
  tiles_.clear();
  units_.clear();
  for (uint32_t s = 0; s < step.n_sequences; s++) cut_sequence(step, s, choice);
  add_units();
}

void AttendSchedule::cut_sequence(const halogen_step& step, uint32_t sequence,
                                  const AttentionChoice& choice) {
  const uint32_t end = step.sequence_starts[sequence + 1];
  for (uint32_t token = step.sequence_starts[sequence]; token < end; token++) {
    const auto position = static_cast<uint32_t>(step.positions[token]);
    const uint32_t window = shape_.window;
    first_[token] = window != 0 && position >= window ? position - window + 1 : 0;
    last_[token] = shape_.causal ? position : step.context_lengths[sequence] - 1;
  }
  uint32_t token = step.sequence_starts[sequence];
  while (token < end) {
    const AttendWay way = choice.way(last_[token] - first_[token] + 1);
    uint32_t from = first_[token], to = last_[token] + 1, n = 1;
    for (; n < tile_tokens_ && token + n < end; n++) {
      const uint32_t next = token + n;
      const uint32_t wider = std::min(from, first_[next]), longer = std::max(to, last_[next] + 1);
      if (choice.way(last_[next] - first_[next] + 1) != way) break;
      const size_t scores = (n + 1) * shape_.group() * plain_score_stride(wider, longer);
      if (way == AttendWay::plain && scores > scratch_.score_floats) break;
      from = wider;
      to = longer;
    }
    const uint32_t first_chunk = from / kFlashChunk;
    for (uint32_t t = token; t < token + n; t++)
      token_tiles_[t] = static_cast<uint32_t>(tiles_.size());
    tiles_.push_back(
        {sequence, token, n, way, first_chunk, (to - 1) / kFlashChunk + 1 - first_chunk, kWhole});
    token += n;
  }
}

uint64_t AttendSchedule::cost(const Tile& tile) const {
  uint64_t positions = 0;
  for (uint32_t t = tile.token; t < tile.token + tile.n_tokens; t++)
    positions += last_[t] - first_[t] + 1;
  return positions;
}

void AttendSchedule::add_units() {
  uint64_t total = 0;
  for (const Tile& tile : tiles_) total += cost(tile);
  const uint64_t share = total * shape_.kv_heads / (kUnitsPerMember * members_);
  uint32_t used = 0;
  for (uint32_t i = 0; i < tiles_.size(); i++) {
    Tile& tile = tiles_[i];
    const uint64_t all = cost(tile);
    const uint32_t rows = tile.chunks * tile.n_tokens * shape_.heads;
    if (tile.way == AttendWay::flash && tile.chunks > 1 && all > share &&
        rows <= partial_rows_ - used) {
      tile.partial_row = used;
      used += rows;
      for (uint32_t c = 0; c < tile.chunks; c++)
        units_.push_back({i, tile.first_chunk + c, uint64_t{kFlashChunk} * tile.n_tokens});
    } else {
      units_.push_back({i, kWhole, all});
    }
  }
  // The largest first, so that no thread is left with one at the end.
  std::sort(units_.begin(), units_.end(), [](const Unit& a, const Unit& b) {
    return a.cost != b.cost ? a.cost > b.cost
                            : std::pair(a.tile, a.chunk) < std::pair(b.tile, b.chunk);
  });
}

}  // namespace halogen::cpu
