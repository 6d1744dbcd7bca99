// The reference's numbers for a model, as the data folder has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halogen::test {

// Full path of something in the data folder, and whether it is there; tests skip where it is not.
std::string data_path(const std::string& path);
bool have_data(const std::string& path);

struct GoldenPrompt {
  std::string name;  // "p0" … "p3"
  std::vector<int32_t> ids;
  std::vector<int32_t> greedy_ids;
  double noise = 0;  // largest difference between the reference's float32 and float64 runs
};

// The prompts of golden/<folder>/golden.json.
std::vector<GoldenPrompt> golden_prompts(const std::string& folder);

struct GreedyReference {
  std::vector<int32_t> prompt;
  std::vector<int32_t> ids;
  std::vector<double> margins;  // of the best logit over the second, at each of the ids
};

// What llama.cpp generates from a GGUF file's weights dequantised to F32, without quantising
// activations.
std::vector<GreedyReference> dequantised_greedy(const std::string& gguf_name);

// llama.cpp's perplexity of a trained model's file on the held-out text, windows of 512, second
// halves.
double reference_perplexity(const std::string& gguf_name);

}  // namespace halogen::test
