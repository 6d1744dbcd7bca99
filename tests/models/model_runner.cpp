#include "tests/models/model_runner.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core/config/load.h"

namespace halogen::test {

std::unique_ptr<ModelRunner> ModelRunner::load(const std::string& path,
                                               const RunnerOptions& options) {
  FlagValues flags;
  flags.assignments = {
      "engine.context=" + std::to_string(options.context),
      "engine.max_batch_tokens=" + std::to_string(options.batch_tokens),
      // Every token of a step may be wanted out, and rows are bounded by sequences.
      "engine.max_concurrent_requests=" + std::to_string(options.batch_tokens),
      "kv.pool_size=512M",
      std::string("kv.cache_type=\"") + (options.f32_cache ? "f32" : "f16") + "\"",
      std::string("backend.cpu.exact=") + (options.exact ? "true" : "false"),
      "backend.cpu.instructions=\"" + options.instructions + "\"",
  };
  auto profile = load_profile(flags, [](const char*) { return std::nullopt; }, "");
  if (!profile) {
    ADD_FAILURE() << profile.error().message;
    return nullptr;
  }
  profile->model.path = path;
  profile->plugin_path = {HALOGEN_BUILD_DIR "/plugins"};
  std::unique_ptr<ModelRunner> runner(new ModelRunner());
  profile->log.level = LogLevel::warning;
  cli::start_log(profile->log);
  auto runtime = cli::Runtime::create(*profile);
  if (!runtime) {
    ADD_FAILURE() << runtime.error().message;
    return nullptr;
  }
  runner->runtime_ = std::move(*runtime);
  auto model = ServedModel::load(*profile, runner->runtime_->plugins(), {});
  if (!model) {
    ADD_FAILURE() << model.error().message;
    return nullptr;
  }
  runner->model_ = std::move(*model);

  // Blocks are handed out in no order, which a wrong block table would not survive.
  const EngineLimits& limits = runner->model_->limits();
  runner->blocks_per_sequence_ =
      (limits.max_context + limits.block_tokens - 1) / limits.block_tokens;
  const uint32_t used = runner->blocks_per_sequence_ * kSequences;
  EXPECT_GE(limits.total_blocks, used);
  for (uint32_t i = 0; i < used; i++) runner->block_tables_.push_back(i);
  std::shuffle(runner->block_tables_.begin(), runner->block_tables_.end(), std::mt19937(1));
  return runner;
}

ModelRunner::~ModelRunner() = default;

std::vector<std::vector<float>> ModelRunner::step(const std::vector<Piece>& pieces) {
  const uint32_t block_tokens = model_->limits().block_tokens;
  std::vector<int32_t> ids, positions, rows;
  std::vector<uint32_t> slots, starts{0}, lengths, tables;
  for (const Piece& piece : pieces) {
    const uint32_t* table = &block_tables_[piece.sequence * blocks_per_sequence_];
    uint32_t& length = lengths_[piece.sequence];
    for (const int32_t token : piece.tokens) {
      rows.push_back(static_cast<int32_t>(ids.size()));
      ids.push_back(token);
      positions.push_back(static_cast<int32_t>(length));
      slots.push_back(table[length / block_tokens] * block_tokens + length % block_tokens);
      length++;
    }
    starts.push_back(static_cast<uint32_t>(ids.size()));
    lengths.push_back(length);
    tables.insert(tables.end(), table, table + blocks_per_sequence_);
  }
  std::vector<float> logits(rows.size() * vocabulary_size());
  halogen_step step{};
  step.struct_size = sizeof step;
  step.n_tokens = static_cast<uint32_t>(ids.size());
  step.n_sequences = static_cast<uint32_t>(pieces.size());
  step.n_rows = static_cast<uint32_t>(rows.size());
  step.token_ids = ids.data();
  step.positions = positions.data();
  step.kv_slots = slots.data();
  step.sequence_starts = starts.data();
  step.context_lengths = lengths.data();
  step.block_tables = tables.data();
  step.block_table_stride = blocks_per_sequence_;
  step.rows = rows.data();
  step.logits = logits.data();

  const EngineParts& parts = model_->parts();
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  uint64_t ticket = 0;
  EXPECT_EQ(parts.backend->step_submit(parts.program, parts.kv, nullptr, &step, &ticket, &error),
            HALOGEN_OK)
      << error.message;
  EXPECT_EQ(parts.backend->step_wait(parts.program, ticket, UINT64_MAX, &error), HALOGEN_OK)
      << error.message;

  std::vector<std::vector<float>> result;
  for (size_t row = 0; row < rows.size(); row++) {
    const auto first = logits.begin() + static_cast<ptrdiff_t>(row * vocabulary_size());
    result.emplace_back(first, first + vocabulary_size());
  }
  return result;
}

std::vector<std::vector<float>> ModelRunner::logits(const std::vector<int32_t>& prompt) {
  reset(0);
  return step({{0, prompt}});
}

std::vector<int32_t> ModelRunner::greedy(const std::vector<int32_t>& prompt, size_t count) {
  std::vector<int32_t> generated{argmax(logits(prompt).back())};
  while (generated.size() < count)
    generated.push_back(argmax(step({{0, {generated.back()}}}).back()));
  return generated;
}

int32_t argmax(const std::vector<float>& logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace halogen::test
