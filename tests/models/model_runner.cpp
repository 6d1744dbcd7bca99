#include "tests/models/model_runner.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/config/load.h"

namespace halogen::test {

std::unique_ptr<ModelRunner> ModelRunner::load(const std::string& path,
                                               const RunnerOptions& options) {
  const size_t slash = options.cache_type.find('/');
  FlagValues flags;
  flags.assignments = {
      "backend.name=\"" + options.backend + "\"",
      "engine.context=" + std::to_string(options.context),
      "engine.max_batch_tokens=" + std::to_string(options.batch_tokens),
      // Every token of a step may be wanted out, and rows are bounded by sequences.
      "engine.max_concurrent_requests=" + std::to_string(options.batch_tokens),
      "kv.pool_size=512M",
      "kv.block_tokens=" + std::to_string(options.block_tokens),
      "kv.host_pool_size=\"" + options.host_pool + "\"",
      "kv.cache_type_k=\"" + options.cache_type.substr(0, slash) + "\"",
      "kv.cache_type_v=\"" + options.cache_type.substr(slash == std::string::npos ? 0 : slash + 1) +
          "\"",
      "attention.flash=\"" + options.flash + "\"",
      "backend.cpu.threads=" + std::to_string(options.threads),
      std::string("backend.cpu.exact=") + (options.exact ? "true" : "false"),
      "backend.cpu.instructions=\"" + options.instructions + "\"",
      "backend.cpu.weight_copy=\"" + options.weight_copy + "\"",
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
  const uint32_t blocks = (limits.max_context + limits.block_tokens - 1) / limits.block_tokens;
  EXPECT_GE(limits.total_blocks, blocks * kSequences);
  runner->steps_.emplace(limits.block_tokens, blocks,
                         check::shuffled_blocks(blocks * kSequences, 1));
  return runner;
}

ModelRunner::~ModelRunner() = default;

std::vector<std::vector<float>> ModelRunner::step(const std::vector<Piece>& pieces) {
  const check::StepArrays arrays = steps_->next(pieces);
  std::vector<float> logits(arrays.rows.size() * vocabulary_size());
  const halogen_step step = arrays.step(logits.data(), nullptr);

  const EngineParts& parts = model_->parts();
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  uint64_t ticket = 0;
  EXPECT_EQ(parts.backend->step_submit(parts.program, parts.kv, nullptr, &step, &ticket, &error),
            HALOGEN_OK)
      << error.message;
  EXPECT_EQ(parts.backend->step_wait(parts.program, ticket, UINT64_MAX, &error), HALOGEN_OK)
      << error.message;

  std::vector<std::vector<float>> result;
  for (size_t row = 0; row < arrays.rows.size(); row++) {
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
