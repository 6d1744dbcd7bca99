#include "tests/models/golden.h"

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

namespace halogen::test {
namespace {

using Json = nlohmann::json;

Json read_json(const std::string& path) {
  std::ifstream file(data_path(path));
  return Json::parse(file);
}

const Json& gguf_golden() {
  static const Json golden = read_json("gguf/golden.json");
  return golden;
}

// The folder of golden/ that a GGUF file was made from: "qwen2-tiny-Q4_0.gguf" -> "qwen2-tiny".
std::string source_folder(const std::string& gguf_name) {
  return gguf_name.substr(0, gguf_name.rfind('-'));
}

}  // namespace

std::string data_path(const std::string& path) {
  return std::string(HALOGEN_TEST_DATA) + "/" + path;
}

bool have_data(const std::string& path) {
  return std::filesystem::exists(data_path(path));
}

std::vector<GoldenPrompt> golden_prompts(const std::string& folder) {
  std::vector<GoldenPrompt> prompts;
  const Json golden = read_json("golden/" + folder + "/golden.json");
  for (const Json& entry : golden["prompts"]) {
    prompts.push_back({entry["name"], entry["ids"], entry["greedy_ids"], entry["noise_max_abs"]});
  }
  return prompts;
}

std::vector<GreedyReference> dequantised_greedy(const std::string& gguf_name) {
  const Json& golden = gguf_golden();
  const bool trained = gguf_name.starts_with("trained");
  std::vector<std::vector<int32_t>> prompts;
  if (trained) {
    prompts = {golden["prompts"]["p2 of the trained models"], golden["prompts"]["def"]};
  } else {
    prompts = {golden_prompts(source_folder(gguf_name))[2].ids};
  }
  std::vector<GreedyReference> references;
  const Json& entry = golden["files"][gguf_name];
  for (const Json& run : entry.value("greedy_dequant_f32", Json::array())) {
    if (references.size() == prompts.size()) break;
    references.push_back({prompts[references.size()], run["ids"], run["margins"]});
  }
  return references;
}

double reference_perplexity(const std::string& gguf_name) {
  return gguf_golden()["files"][gguf_name]["ppl"][0];
}

}  // namespace halogen::test
