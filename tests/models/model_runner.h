// Runs a model file through the real plugins, step by step, without engine or server: what the
// golden tests compare with the reference's numbers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/check/backend/step_maker.h"
#include "core/cli/runtime.h"
#include "core/serve/served_model.h"

namespace halogen::test {

struct RunnerOptions {
  std::string backend = "cpu";        // its other settings are for the CPU backend alone
  std::string cache_type = "f32";     // of keys and values, or "KEYS/VALUES"
  bool exact = false;                 // the CPU backend's exact mode
  std::string instructions = "auto";  // its kernel set
  uint32_t context = 1024;
  uint32_t batch_tokens = 512;
  uint32_t block_tokens = 16;
  std::string host_pool = "0";
  uint32_t threads = 0;  // 0: the backend's default
  std::string flash = "auto";
  std::string weight_copy = "behind";
};

// A part of a sequence, 0 … kSequences - 1, that a step computes.
using check::Piece;

class ModelRunner {
 public:
  static constexpr uint32_t kSequences = 8;

  // Fails the test, and returns null, where the model cannot be loaded.
  static std::unique_ptr<ModelRunner> load(const std::string& path,
                                           const RunnerOptions& options = {});
  ~ModelRunner();

  // One step over the pieces; logits [all tokens of all pieces, vocabulary].
  std::vector<std::vector<float>> step(const std::vector<Piece>& pieces);

  // Forgets a sequence's tokens.
  void reset(size_t sequence) { steps_->rewind(static_cast<uint32_t>(sequence), 0); }

  // Logits after each token of a prompt, computed from nothing in one step.
  std::vector<std::vector<float>> logits(const std::vector<int32_t>& prompt);

  // `count` tokens that follow the prompt, always the most likely one.
  std::vector<int32_t> greedy(const std::vector<int32_t>& prompt, size_t count);

  uint32_t vocabulary_size() const { return model_->limits().vocabulary_size; }
  const ServedModel& model() const { return *model_; }
  ServedModel& model() { return *model_; }

 private:
  ModelRunner() = default;

  std::unique_ptr<cli::Runtime> runtime_;
  std::unique_ptr<ServedModel> model_;
  std::optional<check::StepMaker> steps_;
};

int32_t argmax(const std::vector<float>& logits);

}  // namespace halogen::test
