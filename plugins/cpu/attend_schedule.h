// How the attention of a step is cut into units of work. Made once a step for each shape of
// attention layer; all layers of the shape follow it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "halogen/backend.h"

#include "plugins/cpu/attention.h"

namespace halogen::cpu {

// Which way a token's attention goes; an operator's settings, which may change between steps.
struct AttentionChoice {
  enum class Mode : uint8_t { automatic, flash, plain };
  std::atomic<Mode> mode{Mode::automatic};
  std::atomic<uint32_t> threshold{0};  // positions from which `automatic` takes the flash way

  AttendWay way(uint32_t positions) const {
    switch (mode.load(std::memory_order_relaxed)) {
      case Mode::flash:
        return AttendWay::flash;
      case Mode::plain:
        return AttendWay::plain;
      case Mode::automatic:
        break;
    }
    return positions >= threshold.load(std::memory_order_relaxed) ? AttendWay::flash
                                                                  : AttendWay::plain;
  }
};

struct AttendShape {
  uint32_t heads, kv_heads, key_dim, value_dim;
  uint32_t window;  // 0: none
  bool causal;

  uint32_t group() const { return heads / kv_heads; }
  bool operator==(const AttendShape&) const = default;
};

class AttendSchedule {
 public:
  static constexpr uint32_t kWhole = UINT32_MAX;

  // Tokens that are computed together.
  struct Tile {
    uint32_t sequence, token, n_tokens;
    AttendWay way;
    uint32_t first_chunk, chunks;
    uint32_t partial_row;  // where its chunks' results begin; kWhole: it is not split
  };
  // A tile, or one chunk of it; for each K/V head.
  struct Unit {
    uint32_t tile, chunk;  // chunk may be kWhole
    uint64_t cost;         // positions times tokens
  };

  // Memory for every step within the limits is taken here.
  AttendSchedule(const AttendShape& shape, const halogen_limits& limits, unsigned members);

  const AttendShape& shape() const { return shape_; }
  const AttendScratch& scratch() const { return scratch_; }
  // Rows of unfinished results, of attend_aligned(value_dim) + 2 floats each.
  uint32_t partial_rows() const { return partial_rows_; }

  void prepare(const halogen_step& step, const AttentionChoice& choice);

  const std::vector<Unit>& units() const { return units_; }  // the largest first
  const Tile& tile(uint32_t index) const { return tiles_[index]; }
  const Tile& tile_of(uint32_t token) const { return tiles_[token_tiles_[token]]; }
  const uint32_t* first(uint32_t token) const { return &first_[token]; }
  const uint32_t* last(uint32_t token) const { return &last_[token]; }

  // The first row of a split tile's results for a chunk and K/V head; token-major, as in
  // AttendCall.
  uint32_t partial_row(const Tile& tile, uint32_t chunk, uint32_t kv_head) const {
    const uint32_t part = (chunk - tile.first_chunk) * shape_.kv_heads + kv_head;
    return tile.partial_row + part * tile.n_tokens * shape_.group();
  }

 private:
  void cut_sequence(const halogen_step& step, uint32_t sequence, const AttentionChoice& choice);
  uint64_t cost(const Tile& tile) const;
  void add_units();

  AttendShape shape_;
  AttendScratch scratch_{};
  uint32_t tile_tokens_;
  uint32_t partial_rows_;
  unsigned members_;
  std::vector<uint32_t> first_, last_, token_tiles_;  // [max_tokens]
  std::vector<Tile> tiles_;
  std::vector<Unit> units_;
};

}  // namespace halogen::cpu
