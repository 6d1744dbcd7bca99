#include "plugins/cpu/attend_operation.h"

namespace halogen::cpu {
namespace {

// The partials of a step, from a row on.
AttendRows partials_from(const StepContext& context, const AttendSchedule& schedule, uint32_t row) {
  const size_t rows = schedule.partial_rows();
  const uint32_t value_dim = schedule.shape().value_dim;
  float* out = context.partials;
  float* largest = out + rows * attend_aligned(value_dim);
  return AttendRows{out, largest, largest + rows}.from(row, value_dim);
}

class MergeStage final : public RowStage {
 public:
  explicit MergeStage(const AttendLayer& layer) : layer_(layer) {}

  void run(const StepContext& context, uint32_t token) const override {
    const AttendSchedule& schedule = *layer_.schedule;
    const AttendSchedule::Tile& tile = schedule.tile_of(token);
    if (tile.partial_row == AttendSchedule::kWhole) return;
    for (uint32_t head = 0; head < schedule.shape().heads; head++)
      merge(context, tile, token, head);
  }

 private:
  void merge(const StepContext& context, const AttendSchedule::Tile& tile, uint32_t token,
             uint32_t head) const {
    const AttendSchedule& schedule = *layer_.schedule;
    const uint32_t group = schedule.shape().group(), value_dim = schedule.shape().value_dim;
    const auto part = [&](uint32_t chunk) {
      const uint32_t row = schedule.partial_row(tile, chunk, head / group) +
                           (token - tile.token) * group + head % group;
      return partials_from(context, schedule, row);
    };
    const uint32_t first = *schedule.first(token) / kFlashChunk;
    const uint32_t last = *schedule.last(token) / kFlashChunk;
    const AttendRows total = part(first);
    for (uint32_t chunk = first + 1; chunk <= last; chunk++)
      fold_row(*context.kernels, value_dim, total, part(chunk));
    finish_row(*context.kernels, value_dim, layer_.sinks ? layer_.sinks + head : nullptr, total,
               context.floats(layer_.out, token) + size_t{head} * value_dim);
  }

  AttendLayer layer_;
};

}  // namespace

void AttendOperation::run(const StepContext& context, uint32_t index, float* scratch) const {
  const AttendSchedule& schedule = *layer_.schedule;
  const AttendShape& shape = schedule.shape();
  const halogen_step& step = context.step;
  const uint32_t group = shape.group();
  const auto units = static_cast<uint32_t>(schedule.units().size()) * shape.kv_heads;
  for (uint32_t at = context.claim(index, 1); at < units; at = context.claim(index, 1)) {
    const AttendSchedule::Unit& unit = schedule.units()[at / shape.kv_heads];
    const AttendSchedule::Tile& cut = schedule.tile(unit.tile);
    const uint32_t kv_head = at % shape.kv_heads;
    const uint32_t head = kv_head * group;

    AttendTile tile{};
    tile.kv = &context.kv->layer(layer_.kv_layer);
    tile.block_table = step.block_tables + size_t{cut.sequence} * step.block_table_stride;
    tile.kv_head = kv_head;
    tile.n_tokens = cut.n_tokens;
    tile.n_heads = group;
    tile.first = schedule.first(cut.token);
    tile.last = schedule.last(cut.token);
    tile.q = context.floats(layer_.q, cut.token) + size_t{head} * shape.key_dim;
    tile.q_stride = context.slots[layer_.q.slot].stride_bytes / sizeof(float);
    tile.scale = layer_.scale;
    tile.softcap = layer_.softcap;
    tile.sinks = layer_.sinks ? layer_.sinks + head : nullptr;
    if (unit.chunk == AttendSchedule::kWhole) {
      attend_tile(*context.kernels, tile, cut.way, schedule.scratch(), scratch,
                  context.floats(layer_.out, cut.token) + size_t{head} * shape.value_dim,
                  context.slots[layer_.out.slot].stride_bytes / sizeof(float));
    } else {
      const uint32_t row = schedule.partial_row(cut, unit.chunk, kv_head);
      attend_chunk(*context.kernels, tile, unit.chunk, schedule.scratch(), scratch,
                   partials_from(context, schedule, row));
    }
  }
}

Stage merge_stage(const AttendLayer& layer) {
  return std::make_unique<MergeStage>(layer);
}

}  // namespace halogen::cpu
