#include "core/bench/step_runner.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "core/base/call_plugin.h"

namespace halogen::bench {

Result<StepRunner> StepRunner::create(const ServedModel& model, uint32_t sequences,
                                      uint32_t context) {
  const EngineLimits& limits = model.limits();
  const uint32_t each = (context + limits.block_tokens - 1) / limits.block_tokens;
  if (uint64_t{each} * sequences > limits.total_blocks) {
    return fail(HALOGEN_E_NO_MEMORY,
                std::to_string(sequences) + " sequences of " + std::to_string(context) +
                    " tokens need " + std::to_string(uint64_t{each} * sequences) +
                    " KV blocks, but the pool has " + std::to_string(limits.total_blocks) +
                    "; ask for fewer or shorter ones, or set a larger kv.pool_size");
  }
  return StepRunner(model, each, each * sequences);
}

StepRunner::StepRunner(const ServedModel& model, uint32_t blocks_per_sequence, uint32_t blocks)
    : model_(model),
      blocks_(blocks),
      steps_(model.limits().block_tokens, blocks_per_sequence, check::blocks_in_order(blocks)) {}

void StepRunner::settle() const {
  const EngineParts& parts = model_.parts();
  halogen_counters work{};
  work.struct_size = sizeof work;
  for (;;) {
    parts.backend->counters(parts.program, &work);
    if (work.pending_weight_bytes == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Status StepRunner::step(const std::vector<check::Piece>& pieces, bool last_row) {
  check::StepArrays arrays = steps_.next(pieces);
  if (last_row) {
    arrays.rows.clear();
    for (size_t s = 1; s < arrays.sequence_starts.size(); s++)
      arrays.rows.push_back(static_cast<int32_t>(arrays.sequence_starts[s]) - 1);
  }
  logits_.resize(arrays.rows.size() * model_.limits().vocabulary_size);
  const halogen_step step = arrays.step(logits_.data(), nullptr);
  const EngineParts& parts = model_.parts();
  uint64_t ticket = 0;
  if (Status submitted = call_plugin([&](halogen_error* error) {
        return parts.backend->step_submit(parts.program, parts.kv, parts.states, &step, &ticket,
                                          error);
      });
      !submitted) {
    return submitted;
  }
  return call_plugin([&](halogen_error* error) {
    return parts.backend->step_wait(parts.program, ticket, model_.limits().step_timeout_us, error);
  });
}

Status StepRunner::fill_pool() {
  const EngineLimits& limits = model_.limits();
  const uint32_t held = blocks_ * limits.block_tokens;
  const uint32_t tokens = std::min({limits.max_batch_tokens, limits.max_context, held, 512U});
  const uint32_t real = std::max(1U, tokens / limits.block_tokens);
  // One sequence over all blocks, so that its first ones are blocks 0 and on.
  check::StepMaker whole(limits.block_tokens, blocks_, check::blocks_in_order(blocks_));
  std::swap(whole, steps_);
  Status filled = step({{0, some_tokens(tokens, limits.vocabulary_size), false}}, true);
  std::swap(whole, steps_);
  if (!filled) return filled;

  std::vector<uint32_t> from, to;
  for (uint32_t block = real; block < blocks_; block++) {
    from.push_back(block % real);
    to.push_back(block);
  }
  const EngineParts& parts = model_.parts();
  return call_plugin([&](halogen_error* error) {
    return parts.backend->kv_copy(parts.kv, from.data(), to.data(),
                                  static_cast<uint32_t>(from.size()), error);
  });
}

std::vector<int32_t> some_tokens(uint32_t count, uint32_t vocabulary_size) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any(0, static_cast<int32_t>(vocabulary_size) - 1);
  std::vector<int32_t> tokens(count);
  std::generate(tokens.begin(), tokens.end(), [&] { return any(random); });
  return tokens;
}

}  // namespace halogen::bench
