// What the CPU backend says a step cost is what a count by hand over the file's tensors gives.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/gguf/gguf_model.h"
#include "tests/models/golden.h"
#include "tests/models/model_runner.h"

namespace halogen::test {
namespace {

class StepCost : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = std::string("gguf/") + GetParam();
    if (!have_data(path_)) GTEST_SKIP() << path_ << " is missing";
    runner_ = ModelRunner::load(data_path(path_), {.cache_type = "f16"});
    ASSERT_TRUE(runner_);
    gguf::Failure failure;
    ASSERT_TRUE(gguf::open_gguf_model(data_path(path_), file_, failure));
  }

  const gguf::Tensor* tensor(const std::string& name) const {
    for (const gguf::Tensor& candidate : file_.tensors)
      if (candidate.name == name) return &candidate;
    return nullptr;
  }

  // All that is read of the weights for `tokens` tokens: every tensor, but of an embedding that is
  // not the output matrix too only the tokens' rows.
  uint64_t weight_bytes(uint64_t tokens) const {
    const gguf::Tensor& embedding = *tensor("token_embd.weight");
    uint64_t bytes = tokens * embedding.bytes / embedding.shape[1];
    for (const gguf::Tensor& each : file_.tensors) bytes += each.bytes;
    return tensor("output.weight") ? bytes - embedding.bytes : bytes;
  }

  // Two for each element of a matrix that tokens are multiplied with.
  uint64_t product_operations(uint64_t tokens) const {
    uint64_t operations = 0;
    for (const gguf::Tensor& each : file_.tensors) {
      const bool table = each.name == "token_embd.weight" && tensor("output.weight");
      if (each.rank == 2 && !table) operations += 2 * each.shape[0] * each.shape[1];
    }
    return operations * tokens;
  }

  halogen_counters counters() const {
    halogen_counters counted{};
    counted.struct_size = sizeof counted;
    const EngineParts& parts = runner_->model().parts();
    parts.backend->counters(parts.program, &counted);
    return counted;
  }

  std::string path_;
  std::unique_ptr<ModelRunner> runner_;
  gguf::GgufModel file_;
};

TEST_P(StepCost, EqualsACountByHand) {
  const Hyperparameters& h = runner_->model().hyperparameters();
  constexpr uint64_t kF16 = 2, kPrompt = 90;
  const uint64_t position_bytes =
      uint64_t{h.layers} * h.kv_heads * (h.head_dim + h.value_dim) * kF16;
  const uint64_t pair_operations = uint64_t{2} * h.layers * h.heads * (h.head_dim + h.value_dim);
  // Positions that the last of `context` tokens sees.
  const auto seen = [&h](uint64_t context) {
    return h.sliding_window == 0 ? context : std::min<uint64_t>(context, h.sliding_window);
  };

  uint64_t pairs = 0;  // each token of the prompt sees itself and those before it
  for (uint64_t token = 1; token <= kPrompt; token++) pairs += seen(token);
  runner_->step({{0, std::vector<int32_t>(kPrompt, 7)}});
  EXPECT_EQ(counters().bytes, weight_bytes(kPrompt) + seen(kPrompt) * position_bytes);
  EXPECT_EQ(counters().operations, product_operations(kPrompt) + pairs * pair_operations);
  EXPECT_GT(counters().device_seconds, 0.0);

  // The next token beside a prompt of two: weights are read once, and each sequence's KV once.
  runner_->step({{0, {6}}, {1, {7, 8}}});
  EXPECT_EQ(counters().bytes, weight_bytes(3) + (seen(kPrompt + 1) + 2) * position_bytes);
  EXPECT_EQ(counters().operations,
            product_operations(3) + (seen(kPrompt + 1) + 1 + 2) * pair_operations);
}

INSTANTIATE_TEST_SUITE_P(Models, StepCost,
                         testing::Values("qwen2-tiny-Q4_0.gguf", "llama-tied-f32-tiny-f32.gguf",
                                         "qwen3-tiny-Q8_0.gguf", "mistral-tiny-Q4_0.gguf"));

}  // namespace
}  // namespace halogen::test
