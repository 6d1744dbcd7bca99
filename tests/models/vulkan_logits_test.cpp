// The models over the Vulkan backend, on whatever device there is: the same numbers of the public
// libraries that the CPU backend is held to.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/models/differences.h"
#include "tests/models/golden.h"
#include "tests/models/model_runner.h"
#include "tests/models/npz.h"

namespace halogen::test {
namespace {

RunnerOptions vulkan() {
  RunnerOptions options;
  options.backend = "vulkan";
  return options;
}

struct FullPrecision {
  const char* file;    // in gguf/
  const char* folder;  // in golden/
};
void PrintTo(const FullPrecision& model, std::ostream* out) {
  *out << model.file;
}

class VulkanFullPrecision : public testing::TestWithParam<FullPrecision> {};

TEST_P(VulkanFullPrecision, MatchesTheReferenceWithinItsNoise) {
  const auto [file, folder] = GetParam();
  const std::string path = std::string("gguf/") + file, golden = std::string("golden/") + folder;
  if (!have_data(path) || !have_data(golden)) GTEST_SKIP() << path << " is missing";
  const auto runner = ModelRunner::load(data_path(path), vulkan());
  ASSERT_TRUE(runner);
  for (const GoldenPrompt& prompt : golden_prompts(folder)) {
    const Array last = read_npz(data_path(golden + "/golden.npz"), prompt.name + "_last_f64");
    const auto logits = runner->logits(prompt.ids);
    EXPECT_LE(largest_difference(logits.back(), last.values.data()), golden_tolerance(folder))
        << prompt.name;
    EXPECT_EQ(runner->greedy(prompt.ids, prompt.greedy_ids.size()), prompt.greedy_ids)
        << prompt.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , VulkanFullPrecision,
    testing::Values(FullPrecision{"llama-tiny-f32.gguf", "llama-tiny"},
                    FullPrecision{"llama-tied-f32-tiny-f32.gguf", "llama-tied-f32-tiny"},
                    FullPrecision{"llama3-rope-tiny-bf16.gguf", "llama3-rope-tiny"},
                    FullPrecision{"qwen2-tiny-f32.gguf", "qwen2-tiny"},
                    FullPrecision{"qwen3-tiny-bf16.gguf", "qwen3-tiny"}));

class VulkanQuantised : public testing::TestWithParam<const char*> {};

// The same weights, dequantised: only the order of float additions differs.
TEST_P(VulkanQuantised, MatchesTheDequantisedWeights) {
  const std::string name = GetParam(), path = "gguf/" + name + ".gguf",
                    reference_path = "gguf/logits-dequant/" + name + ".f32";
  if (!have_data(path) || !have_data(reference_path)) GTEST_SKIP() << path << " is missing";
  const auto runner = ModelRunner::load(data_path(path), vulkan());
  ASSERT_TRUE(runner);
  const std::vector<float> reference = read_floats(data_path(reference_path));
  const auto logits = runner->logits(dequantised_greedy(name + ".gguf").front().prompt).back();
  ASSERT_EQ(logits.size(), reference.size());
  EXPECT_LE(rms_difference(logits, reference), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(, VulkanQuantised,
                         testing::Values("qwen2-tiny-Q4_0", "qwen2-tiny-Q8_0", "qwen2-tiny-Q4_K_M",
                                         "qwen2-tiny-Q6_K", "qwen2-tiny-MXFP4", "llama-tiny-Q4_K_M",
                                         "qwen3-tiny-Q4_K_M", "trained-qwen3-15m-Q4_K_M"));

}  // namespace
}  // namespace halogen::test
