// The normalised metadata: what keys become, their defaults, and the errors that name them.
#include <limits>

#include <gtest/gtest.h>

#include "plugins/gguf/gguf_metadata.h"
#include "tests/unit/gguf/gguf_writer.h"

namespace halogen::gguf {
namespace {

using Keys = std::vector<std::string>;

class GgufMetadata : public testing::Test {
 protected:
  // A complete description, each line of which a test can replace.
  static Keys base(const std::string& architecture = "llama") {
    return {test::text_key("general.architecture", architecture),
            test::u32_key(architecture + ".block_count", 2),
            test::u32_key(architecture + ".context_length", 64),
            test::u32_key(architecture + ".embedding_length", 32),
            test::u32_key(architecture + ".feed_forward_length", 96),
            test::u32_key(architecture + ".attention.head_count", 4),
            test::f32_key(architecture + ".attention.layer_norm_rms_epsilon", 0.5F),
            test::text_key("tokenizer.ggml.model", "llama"),
            test::texts_key("tokenizer.ggml.tokens", {"a", "b", "c", "d"})};
  }

  // base() without the keys that the given ones replace, and with these.
  static Keys with(const Keys& replacements) {
    Keys keys = base();
    for (const std::string& added : replacements) {
      std::erase_if(keys, [&](const std::string& key) { return name_of(key) == name_of(added); });
    }
    keys.insert(keys.end(), replacements.begin(), replacements.end());
    return keys;
  }

  static Keys without(std::string_view name) {
    Keys keys = base();
    std::erase_if(keys, [&](const std::string& key) { return name_of(key) == name; });
    return keys;
  }

  static std::string name_of(const std::string& key) {
    uint64_t size = 0;
    std::memcpy(&size, key.data(), sizeof size);
    return key.substr(8, size);
  }

  bool normalise(const Keys& keys) {
    test::Image image;
    image.keys = keys;
    image.tensors = {test::tensor_entry("token_embd.weight", {32, 4}, HALOGEN_F32, 0)};
    image.data = std::string(512, '\0');
    failure_ = {};
    return open_gguf_model(scratch_.write("m.gguf", image.bytes()), model_, failure_) &&
           normalise_metadata(model_, metadata_, failure_);
  }

  void expect_refused(const Keys& keys, const std::string& because) {
    EXPECT_FALSE(normalise(keys)) << because;
    EXPECT_EQ(failure_.message.find(scratch_.path("m.gguf") + ": key '"), 0) << failure_.message;
    EXPECT_NE(failure_.message.find(because), std::string::npos) << failure_.message;
  }

  test::Scratch scratch_;
  GgufModel model_;
  NormalisedMetadata metadata_;
  Failure failure_;
};

TEST_F(GgufMetadata, NormalisesAndFillsInDefaults) {
  ASSERT_TRUE(normalise(base())) << failure_.message;
  EXPECT_EQ(metadata_.text("halogen.architecture"), "llama");
  EXPECT_EQ(metadata_.count("halogen.layers"), 2);
  EXPECT_EQ(metadata_.count("halogen.context_length"), 64);
  EXPECT_EQ(metadata_.count("halogen.hidden_size"), 32);
  EXPECT_EQ(metadata_.count("halogen.feed_forward_size"), 96);
  EXPECT_EQ(metadata_.count("halogen.attention.heads"), 4);
  EXPECT_EQ(metadata_.count("halogen.attention.kv_heads"), 4);
  EXPECT_EQ(metadata_.count("halogen.attention.head_dim"), 8);
  EXPECT_EQ(metadata_.count("halogen.attention.value_dim"), 8);
  EXPECT_EQ(metadata_.real("halogen.norm.rms_epsilon"), 0.5);
  EXPECT_EQ(metadata_.real("halogen.rope.base"), 10000.0);
  EXPECT_EQ(metadata_.count("halogen.rope.dimensions"), 8);
  EXPECT_EQ(metadata_.text("halogen.rope.pairing"), "adjacent");
  EXPECT_EQ(metadata_.text("halogen.rope.scaling.type"), "none");
  EXPECT_EQ(metadata_.real("halogen.rope.scaling.factor"), 1.0);
  EXPECT_EQ(metadata_.count("halogen.vocabulary_size"), 4);
  EXPECT_EQ(metadata_.find("halogen.tokenizer.tokens")->text_at(3), "d");
  EXPECT_FALSE(metadata_.has("halogen.attention.sliding_window"));
}

TEST_F(GgufMetadata, KnowsEachArchitecturesRotaryPairing) {
  for (const char* name : {"llama", "mistral3", "smollm3", "granite", "deepseek2", "llama4"}) {
    ASSERT_TRUE(normalise(base(name))) << failure_.message;
    EXPECT_EQ(metadata_.text("halogen.rope.pairing"), "adjacent") << name;
  }
  for (const char* name : {"qwen2", "qwen3", "qwen3moe", "gemma3", "phi3", "olmo2", "gpt-oss"}) {
    ASSERT_TRUE(normalise(base(name))) << failure_.message;
    EXPECT_EQ(metadata_.text("halogen.rope.pairing"), "halves") << name;
  }
  ASSERT_TRUE(normalise(base("bert"))) << failure_.message;
  EXPECT_FALSE(metadata_.has("halogen.rope.pairing"));
  EXPECT_FALSE(metadata_.has("halogen.rope.base"));
}

TEST_F(GgufMetadata, KeepsOneValueALayerOnlyWhereTheLayersDiffer) {
  ASSERT_TRUE(normalise(with({test::u32s_key("llama.attention.head_count_kv", {2, 2})})));
  EXPECT_EQ(metadata_.count("halogen.attention.kv_heads"), 2);
  ASSERT_TRUE(normalise(with({test::u32s_key("llama.attention.head_count_kv", {0, 2})})));
  const Value* kv_heads = metadata_.find("halogen.attention.kv_heads");
  EXPECT_TRUE(kv_heads->is_array_of(ValueType::u64));
  EXPECT_EQ(kv_heads->unsigned_at(0), 0);
  EXPECT_EQ(kv_heads->unsigned_at(1), 2);
  ASSERT_TRUE(normalise(with({test::array_key("llama.attention.sliding_window_pattern",
                                              ValueType::boolean, 2, std::string("\1\0", 2))})));
  EXPECT_EQ(metadata_.find("halogen.attention.sliding_window_pattern")->unsigned_at(0), 1);
  EXPECT_EQ(metadata_.find("halogen.attention.sliding_window_pattern")->unsigned_at(1), 0);

  expect_refused(with({test::u32s_key("llama.attention.head_count", {4, 4, 4})}),
                 "key 'llama.attention.head_count': has 3 elements for 2 layers");
  expect_refused(with({test::u32s_key("llama.attention.head_count", {0, 0})}), "is 0, but must be");
  expect_refused(with({test::texts_key("llama.attention.head_count", {"4", "4"})}),
                 "not an array of counts");
}

TEST_F(GgufMetadata, TakesAnyWidthOfIntegerAndReal) {
  ASSERT_TRUE(normalise(with({test::number_key("llama.block_count", ValueType::u64, uint64_t{2}),
                              test::number_key("llama.context_length", ValueType::i16, int16_t{9}),
                              test::number_key("llama.rope.freq_base", ValueType::f64, 5e5)})))
      << failure_.message;
  EXPECT_EQ(metadata_.count("halogen.layers"), 2);
  EXPECT_EQ(metadata_.count("halogen.context_length"), 9);
  EXPECT_EQ(metadata_.real("halogen.rope.base"), 5e5);
}

TEST_F(GgufMetadata, NamesTheKeyThatIsMissing) {
  for (const char* key : {"general.architecture", "llama.block_count", "llama.context_length",
                          "llama.embedding_length", "llama.feed_forward_length",
                          "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon",
                          "tokenizer.ggml.model", "tokenizer.ggml.tokens"}) {
    expect_refused(without(key), std::string("key '") + key + "' is missing");
  }
}

TEST_F(GgufMetadata, NamesTheKeyOfTheWrongTypeOrSize) {
  expect_refused(with({test::text_key("llama.block_count", "2")}),
                 "is of type string, not an integer");
  expect_refused(with({test::f32_key("llama.block_count", 2.0F)}),
                 "is of type f32, not an integer");
  expect_refused(with({test::number_key("llama.block_count", ValueType::i32, -5)}), "is -5, but");
  expect_refused(with({test::u32_key("llama.block_count", 0)}),
                 "is 0, but must be from 1 to 1000000");
  expect_refused(with({test::u32_key("llama.block_count", 1000001)}), "is 1000001, but");
  expect_refused(with({test::u32_key("general.architecture", 1)}), "is of type u32, not a string");
  expect_refused(with({test::text_key("general.name", "\xFF")}), "is not UTF-8");
  expect_refused(with({test::f32_key("llama.attention.layer_norm_rms_epsilon",
                                     std::numeric_limits<float>::quiet_NaN())}),
                 "is not a finite number");
  expect_refused(with({test::f32_key("llama.attention.layer_norm_rms_epsilon", -1.0F)}),
                 "is -1, but must be from 0 to 1");
  expect_refused(with({test::f32_key("llama.rope.freq_base", 0.0F)}), "must be more than 0");
  expect_refused(with({test::f32_key("general.sampling.temp", -1.0F)}), "must be at least 0");
  expect_refused(with({test::u32_key("llama.attention.causal", 1)}), "is of type u32, not a bool");
  expect_refused(with({test::u32_key("llama.pooling_type", 9)}), "is 9, which is not known");
  expect_refused(with({test::u32_key("tokenizer.ggml.tokens", 9)}), "not an array of strings");
  expect_refused(with({test::text_key("general.type", "adapter")}), "of kind 'adapter'");
}

TEST_F(GgufMetadata, RefusesNumbersThatDoNotFitEachOther) {
  expect_refused(with({test::u32_key("llama.attention.head_count", 7)}),
                 "'llama.attention.head_count': is 7, which does not divide the hidden size 32");
  EXPECT_TRUE(normalise(with({test::u32_key("llama.attention.head_count", 7),
                              test::u32_key("llama.attention.key_length", 16),
                              test::u32_key("llama.attention.value_length", 16)})))
      << failure_.message;
  expect_refused(with({test::u32_key("llama.attention.head_count_kv", 3)}),
                 "does not divide the 4");
  expect_refused(with({test::u32_key("llama.attention.head_count_kv", 8)}),
                 "does not divide the 4");
  expect_refused(with({test::u32_key("llama.rope.dimension_count", 7)}), "is 7, which is odd");
  expect_refused(with({test::u32_key("llama.rope.dimension_count", 16)}),
                 "more than a head's size 8");
  expect_refused(with({test::text_key("llama.rope.scaling.type", "florp")}),
                 "is 'florp', not none");
  expect_refused(with({test::u32_key("llama.expert_used_count", 2)}), "there are 0 experts");
}

TEST_F(GgufMetadata, ChecksTheVocabularysArraysAgainstEachOther) {
  const auto floats = [](uint64_t count) {
    return test::array_key("tokenizer.ggml.scores", ValueType::f32, count,
                           std::string(4 * count, '\0'));
  };
  EXPECT_TRUE(normalise(with({floats(4)}))) << failure_.message;
  expect_refused(with({floats(3)}), "key 'tokenizer.ggml.scores': has 3 elements for 4 tokens");
  expect_refused(with({test::u32s_key("tokenizer.ggml.token_type", {1})}), "has 1 elements for 4");
  expect_refused(with({test::texts_key("tokenizer.ggml.scores", {"a", "b", "c", "d"})}),
                 "is of type array of 4 strings, not an array of reals");
  expect_refused(with({test::texts_key("tokenizer.ggml.tokens", {})}), "is an empty array");
  expect_refused(with({test::texts_key("tokenizer.ggml.tokens", {"a"})}),
                 "has 1 tokens, but tensor 'token_embd.weight' has 4 rows");
  expect_refused(with({test::text_key("tokenizer.ggml.model", "gpt2")}),
                 "key 'tokenizer.ggml.merges' is missing");
  expect_refused(with({test::u32_key("tokenizer.ggml.bos_token_id", 4)}),
                 "key 'tokenizer.ggml.bos_token_id': is 4, but there are 4 tokens");
  ASSERT_TRUE(normalise(with({test::u32_key("tokenizer.ggml.eos_token_id", 0xFFFFFFFF),
                              test::u32_key("tokenizer.ggml.bos_token_id", 3)})))
      << failure_.message;
  EXPECT_FALSE(metadata_.has("halogen.tokenizer.eos"));
  EXPECT_EQ(metadata_.count("halogen.tokenizer.bos"), 3);
}

TEST_F(GgufMetadata, PassesTemplatesAndSamplingOn) {
  ASSERT_TRUE(normalise(with({test::text_key("tokenizer.chat_template", "{{ a }}"),
                              test::text_key("tokenizer.chat_template.rerank", "{{ b }}"),
                              test::f32_key("general.sampling.temp", 0.5F),
                              test::number_key("general.sampling.top_k", ValueType::i32, -1),
                              test::f32_key("llama.rope.scale_linear", 4.0F)})))
      << failure_.message;
  EXPECT_EQ(metadata_.text("halogen.chat_template"), "{{ a }}");
  EXPECT_EQ(metadata_.text("halogen.chat_template.rerank"), "{{ b }}");
  EXPECT_EQ(metadata_.real("halogen.sampling.temperature"), 0.5);
  EXPECT_EQ(metadata_.find("halogen.sampling.top_k")->signed_at(0), -1);
  EXPECT_EQ(metadata_.text("halogen.rope.scaling.type"), "linear");
  EXPECT_EQ(metadata_.real("halogen.rope.scaling.factor"), 4.0);
}

TEST_F(GgufMetadata, StaysValidWhenItIsMoved) {
  ASSERT_TRUE(normalise(base())) << failure_.message;
  const NormalisedMetadata moved = std::move(metadata_);
  EXPECT_EQ(moved.count("halogen.layers"), 2);
  EXPECT_EQ(moved.text("halogen.rope.pairing"), "adjacent");
}

}  // namespace
}  // namespace halogen::gguf
