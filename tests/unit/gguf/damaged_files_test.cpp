// The corpus of damaged files: each is refused with a message that names the place, or opens.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plugins/gguf/gguf_metadata.h"
#include "tests/unit/gguf/gguf_writer.h"

namespace halogen::gguf {
namespace {

// Damage that needs more than the file's structure to be seen: what the tokens and merges say, and
// which tensors of which shape a family needs. The tokenizer and the model's builder refuse these.
const std::set<std::string> kForTheCore = {
    // the tokenizer
    "vocab-model-unknown", "bpe-merge-no-space", "bpe-merge-empty", "bpe-merge-only-space",
    "bpe-pre-unknown",
    // the model's builder
    "tensor-count-0", "missing-head_count_kv", "block_count-6", "embedding_length-128",
    "feed_forward_length-wrong", "tensor-shape-transposed", "tensor-shape-1d",
    "tensor-required-missing", "qkv-bias-missing"};

struct Case {
  std::string name;
  std::string layer;
  std::string expect;
};

class GgufDamagedFiles : public testing::Test {
 protected:
  void SetUp() override {
    const std::string data = HALOGEN_TEST_DATA;
    script_ = data + "/gguf-damaged/mutate.py";
    if (!std::filesystem::exists(script_)) GTEST_SKIP() << "no " << script_;
    if (std::string(HALOGEN_PYTHON).empty()) GTEST_SKIP() << "no python3";
    const std::string sources = " --stories '" + data +
                                "/stories260K/stories260K-F16.gguf' --qwen '" + data +
                                "/gguf/qwen2-tiny-bf16.gguf'";
    ASSERT_EQ(run(sources + " '" + scratch_.path("files") + "'"), 0);
    ASSERT_EQ(run(" --list --json > '" + scratch_.path("list") + "'"), 0);
  }

  int run(const std::string& arguments) const {
    return std::system(("'" HALOGEN_PYTHON "' '" + script_ + "'" + arguments).c_str());
  }

  std::vector<Case> cases() const {
    std::vector<Case> all;
    std::istringstream lines(test::read_whole(scratch_.path("list")));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line);
      all.push_back({json["name"], json["layer"], json["expect"]});
    }
    return all;
  }

  std::string script_;
  test::Scratch scratch_;
};

// A key, a tensor, or a place in the file.
bool names_the_place(const std::string& message) {
  for (const char* place : {"key ", "tensor ", "byte ", "header: ", "begins with ", "is empty"}) {
    if (message.find(place) != std::string::npos) return true;
  }
  return false;
}

TEST_F(GgufDamagedFiles, AreRefusedOrAcceptedAsTheyDeserve) {
  int refused = 0;
  int left_to_the_core = 0;
  const std::vector<Case> all = cases();
  for (const Case& damaged : all) {
    SCOPED_TRACE(damaged.name);
    const std::string path = scratch_.path("files/" + damaged.name + ".gguf");
    GgufModel model;
    NormalisedMetadata metadata;
    Failure failure;
    const bool opened =
        open_gguf_model(path, model, failure) && normalise_metadata(model, metadata, failure);
    if (!opened) {
      refused++;
      EXPECT_EQ(failure.message.find(path), 0) << failure.message;
      const std::string rest = failure.message.substr(path.size());
      EXPECT_TRUE(names_the_place(rest)) << failure.message;
      std::cout << damaged.expect << ' ' << damaged.name << rest << '\n';
    }
    if (damaged.expect == "ok") {
      EXPECT_TRUE(opened) << failure.message;
    }
    if (damaged.expect != "error") continue;
    if (kForTheCore.count(damaged.name)) {
      EXPECT_TRUE(opened) << "seen already here: " << failure.message;
      left_to_the_core++;
    } else {
      EXPECT_FALSE(opened) << "layer " << damaged.layer;
    }
  }
  std::cout << all.size() << " files, " << refused << " refused, " << left_to_the_core
            << " left to the core\n";
  EXPECT_GE(all.size(), 185);
  EXPECT_EQ(left_to_the_core, kForTheCore.size());
}

}  // namespace
}  // namespace halogen::gguf
