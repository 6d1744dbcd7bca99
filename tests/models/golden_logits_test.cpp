// The models against the numbers of the public libraries: logits of full-precision files, logits
// and greedy tokens of quantised ones, and the trained model's perplexity.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/models/differences.h"
#include "tests/models/edited_gguf.h"
#include "tests/models/golden.h"
#include "tests/models/model_runner.h"
#include "tests/models/npz.h"

namespace halogen::test {
namespace {

// Standard deviation.
double spread(const std::vector<float>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  return rms_difference(values, std::vector<float>(values.size(), static_cast<float>(mean)));
}

// --- full precision

struct FullPrecision {
  const char* file;    // in gguf/
  const char* folder;  // in golden/
};

void PrintTo(const FullPrecision& model, std::ostream* out) {
  *out << model.file;
}

class FullPrecisionLogits : public testing::TestWithParam<FullPrecision> {};

TEST_P(FullPrecisionLogits, MatchTheReferenceWithinItsNoise) {
  const auto [file, folder] = GetParam();
  const std::string path = std::string("gguf/") + file, golden = std::string("golden/") + folder;
  if (!have_data(path) || !have_data(golden)) GTEST_SKIP() << path << " is missing";
  const auto runner = ModelRunner::load(data_path(path));
  ASSERT_TRUE(runner);
  const double tolerance = golden_tolerance(folder);

  for (const GoldenPrompt& prompt : golden_prompts(folder)) {
    const auto logits = runner->logits(prompt.ids);
    const Array all = read_npz(data_path(golden + "/golden.npz"), prompt.name + "_logits_f32");
    const Array last = read_npz(data_path(golden + "/golden.npz"), prompt.name + "_last_f64");
    ASSERT_EQ(last.columns(), runner->vocabulary_size());
    EXPECT_LE(largest_difference(logits.back(), last.values.data()), tolerance) << prompt.name;
    if (all.rows() != prompt.ids.size()) continue;  // the longest prompt has its last row only
    for (size_t row = 0; row < all.rows(); row++) {
      EXPECT_LE(largest_difference(logits[row], &all.values[row * all.columns()]), tolerance)
          << prompt.name << " row " << row;
    }
  }
}

TEST_P(FullPrecisionLogits, GiveTheReferencesGreedyTokens) {
  const auto [file, folder] = GetParam();
  const std::string path = std::string("gguf/") + file;
  if (!have_data(path)) GTEST_SKIP() << path << " is missing";
  const auto runner = ModelRunner::load(data_path(path));
  ASSERT_TRUE(runner);
  for (const GoldenPrompt& prompt : golden_prompts(folder)) {
    EXPECT_EQ(runner->greedy(prompt.ids, prompt.greedy_ids.size()), prompt.greedy_ids)
        << prompt.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FullPrecisionLogits,
    testing::Values(FullPrecision{"llama-tiny-f32.gguf", "llama-tiny"},
                    FullPrecision{"llama-tiny-bf16.gguf", "llama-tiny"},
                    FullPrecision{"llama-tied-f32-tiny-f32.gguf", "llama-tied-f32-tiny"},
                    FullPrecision{"llama3-rope-tiny-bf16.gguf", "llama3-rope-tiny"},
                    FullPrecision{"qwen2-tiny-f32.gguf", "qwen2-tiny"},
                    FullPrecision{"qwen2-tiny-bf16.gguf", "qwen2-tiny"},
                    FullPrecision{"split/qwen2-tiny-bf16-00001-of-00003.gguf", "qwen2-tiny"},
                    FullPrecision{"qwen3-tiny-f32.gguf", "qwen3-tiny"},
                    FullPrecision{"qwen3-tiny-bf16.gguf", "qwen3-tiny"}));

// The converter drops Mistral's window of 16, so that the file as it is is right up to position 16
// only; with the key in place everything is.
TEST(SlidingWindow, MatchesTheReferenceOnceTheFileSaysItsWindow) {
  const std::string path = "gguf/mistral-tiny-f32.gguf", golden = "golden/mistral-tiny";
  if (!have_data(path) || !have_data(golden)) GTEST_SKIP() << path << " is missing";
  const std::string edited =
      testing::TempDir() + "mistral-window-" + std::to_string(::getpid()) + ".gguf";
  ASSERT_TRUE(add_metadata_u32(data_path(path), "llama.attention.sliding_window", 16, edited));
  const auto windowed = ModelRunner::load(edited);
  const auto full = ModelRunner::load(data_path(path));
  ASSERT_TRUE(windowed && full);
  constexpr double kTolerance = 2e-4;  // golden noise 7e-5
  for (const GoldenPrompt& prompt : golden_prompts("mistral-tiny")) {
    const auto logits = windowed->logits(prompt.ids);
    const Array last = read_npz(data_path(golden + "/golden.npz"), prompt.name + "_last_f64");
    EXPECT_LE(largest_difference(logits.back(), last.values.data()), kTolerance) << prompt.name;
    EXPECT_EQ(windowed->greedy(prompt.ids, 32), prompt.greedy_ids) << prompt.name;
    const Array all = read_npz(data_path(golden + "/golden.npz"), prompt.name + "_logits_f32");
    if (all.rows() != prompt.ids.size()) continue;
    const auto unwindowed = full->logits(prompt.ids);
    for (size_t row = 0; row < std::min<size_t>(16, all.rows()); row++) {
      EXPECT_LE(largest_difference(unwindowed[row], &all.values[row * all.columns()]), kTolerance);
    }
  }
  std::remove(edited.c_str());
}

// --- quantised

class QuantisedLogits : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = GetParam();
    path_ = "gguf/" + name + ".gguf";
    reference_ = "gguf/logits-dequant/" + name + ".f32";
    if (!have_data(path_) || !have_data(reference_)) GTEST_SKIP() << path_ << " is missing";
    for (const GreedyReference& greedy : dequantised_greedy(name + ".gguf"))
      greedy_.push_back(greedy);
    ASSERT_FALSE(greedy_.empty());
  }
  std::string path_, reference_;
  std::vector<GreedyReference> greedy_;
};

// The same weights, dequantised: only the order of float additions differs.
TEST_P(QuantisedLogits, MatchTheDequantisedWeightsInExactMode) {
  const auto runner = ModelRunner::load(data_path(path_), {.exact = true});
  ASSERT_TRUE(runner);
  const std::vector<float> reference = read_floats(data_path(reference_));
  const auto logits = runner->logits(greedy_[0].prompt).back();
  ASSERT_EQ(logits.size(), reference.size());
  EXPECT_LE(rms_difference(logits, reference), 1e-4);
}

// Rounding activations to 8 bits costs the peer up to 0.13 (RMS) on qwen2-tiny, whose logits
// spread 3.5: a share of 0.037. Which values a rounding tips is chance, and the last bit of a sum
// moves the share by a tenth.
TEST_P(QuantisedLogits, StayWithinTheErrorOfQuantisedActivations) {
  constexpr double kShareOfSpread = 1.1 * 0.13 / 3.5;
  const auto runner = ModelRunner::load(data_path(path_));
  ASSERT_TRUE(runner);
  const std::vector<float> reference = read_floats(data_path(reference_));
  const double rms = rms_difference(runner->logits(greedy_[0].prompt).back(), reference);
  RecordProperty("rms", std::to_string(rms));
  EXPECT_LE(rms, kShareOfSpread * spread(reference));
  EXPECT_GT(rms, 0.0);  // else the exact path was measured
}

// Up to the first token that rounding could turn.
TEST_P(QuantisedLogits, GiveTheReferencesGreedyTokensInExactMode) {
  constexpr double kSafeMargin = 1e-3;
  const auto runner = ModelRunner::load(data_path(path_), {.exact = true});
  ASSERT_TRUE(runner);
  for (const GreedyReference& reference : greedy_) {
    const auto unsafe = std::find_if(reference.margins.begin(), reference.margins.end(),
                                     [](double margin) { return margin < kSafeMargin; });
    const auto count = static_cast<size_t>(unsafe - reference.margins.begin());
    const std::vector<int32_t> expected(reference.ids.begin(),
                                        reference.ids.begin() + static_cast<ptrdiff_t>(count));
    EXPECT_GE(count, 8U);
    EXPECT_EQ(runner->greedy(reference.prompt, count), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , QuantisedLogits,
    testing::Values("qwen2-tiny-Q4_0", "qwen2-tiny-Q4_1", "qwen2-tiny-Q5_0", "qwen2-tiny-Q5_1",
                    "qwen2-tiny-Q8_0", "qwen2-tiny-Q2_K", "qwen2-tiny-Q3_K_M", "qwen2-tiny-Q4_K_S",
                    "qwen2-tiny-Q4_K_M", "qwen2-tiny-Q5_K_M", "qwen2-tiny-Q6_K",
                    "qwen2-tiny-IQ4_NL", "qwen2-tiny-IQ4_XS", "qwen2-tiny-MXFP4", "llama-tiny-Q4_0",
                    "llama-tiny-Q4_K_M", "llama-tiny-Q8_0", "qwen3-tiny-Q4_0", "qwen3-tiny-Q4_K_M",
                    "qwen3-tiny-Q8_0", "trained-qwen3-15m-Q4_K_M"));

// --- the trained model

// Perplexity of the held-out text in windows of 512 tokens, counting the second half of each.
double perplexity(ModelRunner& runner) {
  std::ifstream file(data_path("golden/heldout.txt"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<int32_t> ids;
  EXPECT_TRUE(runner.model().tokenizer().encode(text, {}, ids).ok());
  constexpr size_t kWindow = 512, kHalf = kWindow / 2;
  double loss = 0;
  size_t count = 0;
  for (size_t first = 0; first + kWindow <= ids.size(); first += kWindow) {
    const std::vector<int32_t> window(ids.begin() + static_cast<ptrdiff_t>(first),
                                      ids.begin() + static_cast<ptrdiff_t>(first + kWindow));
    const auto logits = runner.logits(window);
    for (size_t i = kHalf; i + 1 < kWindow; i++) {
      double sum = 0;
      const float largest = *std::max_element(logits[i].begin(), logits[i].end());
      for (const float logit : logits[i]) sum += std::exp(static_cast<double>(logit - largest));
      loss += std::log(sum) + static_cast<double>(largest) -
              static_cast<double>(logits[i][static_cast<size_t>(window[i + 1])]);
      count++;
    }
  }
  EXPECT_EQ(count, 60U * 255U);
  return std::exp(loss / static_cast<double>(count));
}

TEST(Perplexity, OfTheTrainedModelInQ4KMAgreesWithTheReference) {
  const std::string name = "trained-qwen3-15m-Q4_K_M.gguf";
  if (!have_data("gguf/" + name) || !have_data("golden/heldout.txt"))
    GTEST_SKIP() << name << " is missing";
  const auto runner = ModelRunner::load(data_path("gguf/" + name), {.cache_type = "f16"});
  ASSERT_TRUE(runner);
  const double ours = perplexity(*runner), theirs = reference_perplexity(name);
  RecordProperty("perplexity", std::to_string(ours));
  std::cout << "perplexity " << ours << ", reference " << theirs << '\n';
  EXPECT_NEAR(ours, theirs, 0.005 * theirs);
}

// The weights as they were trained, with the cache in F16: the reference's float32 value.
TEST(Perplexity, OfTheTrainedModelInBF16AgreesWithTheReference) {
  const std::string source = "gguf/trained-qwen3-15m-Q4_K_M.gguf",
                    folder = "golden/trained-qwen3-15m";
  if (!have_data(source) || !have_data(folder)) GTEST_SKIP() << folder << " is missing";
  const std::string bf16 = testing::TempDir() + "trained-bf16.gguf";
  ASSERT_TRUE(with_tensors_of(data_path(source), data_path(folder + "/model.safetensors"), bf16));
  const auto runner = ModelRunner::load(bf16, {.cache_type = "f16"});
  ASSERT_TRUE(runner);
  constexpr double kReference = 5.610605447997316;  // perplexity.json, ppl_second_half
  const double ours = perplexity(*runner);
  std::cout << "perplexity " << ours << ", reference " << kReference << '\n';
  EXPECT_NEAR(ours, kReference, 0.001 * kReference);
  std::remove(bf16.c_str());
}

// --- the quantised cache

class QuantisedCache : public testing::TestWithParam<std::pair<const char*, double>> {
 protected:
  void SetUp() override {
    if (!have_data(path_) || !have_data("golden/heldout.txt"))
      GTEST_SKIP() << path_ << " is missing";
  }
  double perplexity_of(const std::string& cache_type) {
    const auto runner = ModelRunner::load(data_path(path_), {.cache_type = cache_type});
    return runner ? perplexity(*runner) : 0;
  }
  const std::string path_ = "gguf/trained-qwen3-15m-Q4_K_M.gguf";
};

// Against the cache of halves. Eight bits cost a thousandth, four bits some percent.
TEST_P(QuantisedCache, CostsLittlePerplexity) {
  const auto [type, share] = GetParam();
  const double quantised = perplexity_of(type), halves = perplexity_of("f16");
  RecordProperty("perplexity", std::to_string(quantised));
  std::cout << "perplexity with a cache of " << type << ": " << quantised << ", of f16: " << halves
            << '\n';
  EXPECT_NEAR(quantised, halves, share * halves);
  EXPECT_NE(quantised, halves);  // else the cache was of halves
}

INSTANTIATE_TEST_SUITE_P(, QuantisedCache,
                         testing::Values(std::pair("q8_0", 0.002), std::pair("q4_0", 0.05)));

TEST(QuantisedCacheMemory, HoldsAsManyMoreBlocksAsItsElementsAreSmaller) {
  const std::string path = "gguf/qwen2-tiny-f32.gguf";
  if (!have_data(path)) GTEST_SKIP() << path << " is missing";
  const auto blocks = [&](const char* type) {
    const auto runner =
        ModelRunner::load(data_path(path), {.cache_type = type, .batch_tokens = 4096});
    return runner ? static_cast<double>(runner->model().limits().total_blocks) : 0;
  };
  const double halves = blocks("f16");
  EXPECT_NEAR(blocks("q8_0"), halves * 64 / 34, 2);
  EXPECT_NEAR(blocks("q4_0"), halves * 64 / 18, 4);
  EXPECT_NEAR(blocks("f16/q8_0"), halves * 128 / (64 + 34), 2);
}

}  // namespace
}  // namespace halogen::test
