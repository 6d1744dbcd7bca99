#include "plugins/gguf/vocabulary_checks.h"

#include "plugins/gguf/text.h"

namespace halogen::gguf {
namespace {

constexpr std::string_view kEmbedding = "token_embd.weight";

bool missing(std::string_view key, Failure& failure) {
  return failure.set(HALOGEN_E_INVALID,
                     concat("key ", in_quotes(key), " is missing; convert the model anew"));
}

bool check_present(const NormalisedMetadata& metadata, Failure& failure) {
  if (!metadata.has("halogen.tokenizer.model")) return missing("tokenizer.ggml.model", failure);
  const std::string_view model = metadata.text("halogen.tokenizer.model");
  if (model == "none" || model == "no_vocab") return true;
  if (!metadata.has("halogen.tokenizer.tokens")) return missing("tokenizer.ggml.tokens", failure);
  if ((model == "gpt2" || model == "gemma4") && !metadata.has("halogen.tokenizer.merges")) {
    return missing("tokenizer.ggml.merges", failure);
  }
  return true;
}

bool check_one_a_token(const NormalisedMetadata& metadata, std::string_view key,
                       std::string_view raw, uint64_t tokens, Failure& failure) {
  const Value* value = metadata.find(key);
  if (!value || value->count == tokens) return true;
  return failure.set(HALOGEN_E_INVALID, concat("key ", in_quotes(raw), ": has ", value->count,
                                               " elements for ", tokens, " tokens"));
}

struct SpecialToken {
  std::string_view key;
  std::string_view raw;
};

constexpr SpecialToken kSpecialTokens[] = {{"bos", "bos"},
                                           {"eos", "eos"},
                                           {"eot", "eot"},
                                           {"eom", "eom"},
                                           {"unk", "unknown"},
                                           {"pad", "padding"},
                                           {"sep", "seperator"},
                                           {"cls", "cls"},
                                           {"mask", "mask"},
                                           {"fim_prefix", "fim_pre"},
                                           {"fim_suffix", "fim_suf"},
                                           {"fim_middle", "fim_mid"},
                                           {"fim_pad", "fim_pad"},
                                           {"fim_repository", "fim_rep"},
                                           {"fim_separator", "fim_sep"}};

bool check_special_tokens(const NormalisedMetadata& metadata, uint64_t tokens, Failure& failure) {
  for (const SpecialToken& special : kSpecialTokens) {
    const std::optional<uint64_t> id = metadata.count(concat("halogen.tokenizer.", special.key));
    if (!id || *id < tokens) continue;
    const std::string key = concat("tokenizer.ggml.", special.raw, "_token_id");
    return failure.set(HALOGEN_E_INVALID, concat("key ", in_quotes(key), ": is ", *id,
                                                 ", but there are ", tokens, " tokens"));
  }
  return true;
}

bool check_tokens(const GgufModel& model, const NormalisedMetadata& metadata, uint64_t tokens,
                  Failure& failure) {
  if (tokens == 0) {
    return failure.set(HALOGEN_E_INVALID, "key 'tokenizer.ggml.tokens': is an empty array");
  }
  const Tensor* embedding = find_tensor(model, kEmbedding);
  if (embedding && (embedding->rank != 2 || embedding->shape[1] != tokens)) {
    return failure.set(HALOGEN_E_INVALID,
                       concat("key 'tokenizer.ggml.tokens': has ", tokens, " tokens, but tensor ",
                              in_quotes(kEmbedding), " has ",
                              embedding->rank == 2 ? embedding->shape[1] : 1, " rows"));
  }
  return check_one_a_token(metadata, "halogen.tokenizer.scores", "tokenizer.ggml.scores", tokens,
                           failure) &&
         check_one_a_token(metadata, "halogen.tokenizer.types", "tokenizer.ggml.token_type", tokens,
                           failure) &&
         check_special_tokens(metadata, tokens, failure);
}

}  // namespace

bool complete_vocabulary(const GgufModel& model, NormalisedMetadata& metadata, Failure& failure) {
  if (!model.tensors.empty() && !check_present(metadata, failure)) return false;
  if (const Value* tokens = metadata.find("halogen.tokenizer.tokens")) {
    return check_tokens(model, metadata, tokens->count, failure);
  }
  const Tensor* embedding = find_tensor(model, kEmbedding);
  if (embedding && embedding->rank == 2) {
    metadata.own("halogen.vocabulary_size", Value::of(embedding->shape[1]));
  }
  return true;
}

}  // namespace halogen::gguf
