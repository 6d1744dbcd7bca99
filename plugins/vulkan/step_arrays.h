// The arrays of a step where the shaders find them: always at the same addresses, so that a
// recorded step needs nothing but new contents.
#pragma once

#include "halogen/backend.h"

#include "plugins/vulkan/memory_pool.h"
#include "plugins/vulkan/shader_interface.h"

namespace halogen::vulkan {

class StepArrays {
 public:
  static uint64_t bytes(const halogen_limits& limits, uint32_t block_tokens);

  // `memory` has bytes() and is seen by the host.
  StepArrays(const Span& memory, const halogen_limits& limits, uint32_t block_tokens);

  // Query tokens of each tile at most; 0: no tiles are made. Returns how many tiles there are.
  uint32_t fill(const halogen_step& step, uint32_t tile_tokens, uint32_t split_positions);

  uint64_t tables() const { return tables_.address; }
  uint64_t n_tokens() const { return tables_.address + offsetof(StepTables, n_tokens); }
  uint64_t n_rows() const { return tables_.address + offsetof(StepTables, n_rows); }
  uint64_t token_ids() const { return token_ids_.address; }
  uint64_t positions() const { return positions_.address; }
  uint64_t kv_slots() const { return kv_slots_.address; }
  uint64_t rows() const { return rows_.address; }

 private:
  uint32_t fill_tiles(const halogen_step& step, uint32_t tile_tokens);

  uint32_t block_tokens_, table_stride_;
  Span tables_, token_ids_, positions_, kv_slots_, rows_, sequences_, contexts_, blocks_, tiles_;
};

}  // namespace halogen::vulkan
