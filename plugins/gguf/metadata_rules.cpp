#include "plugins/gguf/metadata_rules.h"

#include <algorithm>
#include <iterator>

namespace halogen::gguf {
namespace {

constexpr double kAny = kUnbounded;
constexpr double kMaxLayers = 1e6;
constexpr double kMaxHeads = 1e6;
constexpr double kMaxWidth = 1e8;  // elements of a hidden state or a feed-forward layer
constexpr double kMaxU32 = 4294967295.0;

constexpr std::string_view kPooling[] = {"none", "mean", "cls", "last", "rank"};
constexpr std::string_view kGating[] = {"", "softmax", "sigmoid", "softmax_selected"};

constexpr Rule kGeneral[] = {
    {"general.architecture", "halogen.architecture", Kind::text},
    {"general.name", "halogen.name", Kind::text},
    {"general.basename", "halogen.base_name", Kind::text},
    {"general.size_label", "halogen.size_label", Kind::text},
    {"general.file_type", "halogen.file_type", Kind::count, 0, kMaxU32},
    {"general.sampling.sequence", "halogen.sampling.sequence", Kind::text},
    {"general.sampling.temp", "halogen.sampling.temperature", Kind::real, 0, kAny},
    {"general.sampling.top_k", "halogen.sampling.top_k", Kind::integer, -1, kMaxU32},
    {"general.sampling.top_p", "halogen.sampling.top_p", Kind::real, 0, 1},
    {"general.sampling.min_p", "halogen.sampling.min_p", Kind::real, 0, 1},
    {"general.sampling.xtc_probability", "halogen.sampling.xtc_probability", Kind::real, 0, 1},
    {"general.sampling.xtc_threshold", "halogen.sampling.xtc_threshold", Kind::real, 0, 1},
    {"general.sampling.penalty_repeat", "halogen.sampling.repetition_penalty", Kind::real, 0, kAny},
    {"general.sampling.penalty_last_n", "halogen.sampling.penalty_window", Kind::integer, -1,
     kMaxU32},
    {"general.sampling.mirostat", "halogen.sampling.mirostat", Kind::count, 0, 2},
    {"general.sampling.mirostat_tau", "halogen.sampling.mirostat_tau", Kind::real, 0, kAny},
    {"general.sampling.mirostat_eta", "halogen.sampling.mirostat_eta", Kind::real, 0, kAny},
};

// block_count comes first: the kinds of one value a layer need it.
constexpr Rule kArchitecture[] = {
    {"block_count", "halogen.layers", Kind::count, 1, kMaxLayers},
    {"context_length", "halogen.context_length", Kind::count, 1, kMaxU32},
    {"vocab_size", "halogen.vocabulary_size", Kind::count, 1, kMaxWidth},
    {"embedding_length", "halogen.hidden_size", Kind::count, 1, kMaxWidth},
    {"embedding_length_out", "halogen.output_size", Kind::count, 1, kMaxWidth},
    {"feed_forward_length", "halogen.feed_forward_size", Kind::layer_counts, 1, kMaxWidth},
    {"token_type_count", "halogen.token_types", Kind::count, 0, kMaxWidth},
    {"pooling_type", "halogen.pooling", Kind::choice, 0, 0, kPooling},
    {"classifier.output_labels", "halogen.classifier.labels", Kind::texts},
    {"embedding_scale", "halogen.embedding_scale", Kind::real, -kAny, kAny},
    {"residual_scale", "halogen.residual_scale", Kind::real, -kAny, kAny},
    {"logit_scale", "halogen.logit_scale", Kind::real, -kAny, kAny},
    {"final_logit_softcapping", "halogen.logit_softcap", Kind::real, 0, kAny},

    {"attention.head_count", "halogen.attention.heads", Kind::layer_counts, 1, kMaxHeads},
    {"attention.head_count_kv", "halogen.attention.kv_heads", Kind::layer_counts, 1, kMaxHeads},
    {"attention.key_length", "halogen.attention.head_dim", Kind::count, 1, kMaxWidth},
    {"attention.value_length", "halogen.attention.value_dim", Kind::count, 1, kMaxWidth},
    {"attention.key_length_swa", "halogen.attention.window_head_dim", Kind::count, 1, kMaxWidth},
    {"attention.value_length_swa", "halogen.attention.window_value_dim", Kind::count, 1, kMaxWidth},
    {"attention.key_length_mla", "halogen.attention.latent.head_dim", Kind::count, 1, kMaxWidth},
    {"attention.value_length_mla", "halogen.attention.latent.value_dim", Kind::count, 1, kMaxWidth},
    {"attention.q_lora_rank", "halogen.attention.latent.q_rank", Kind::count, 0, kMaxWidth},
    {"attention.kv_lora_rank", "halogen.attention.latent.kv_rank", Kind::count, 0, kMaxWidth},
    {"attention.causal", "halogen.attention.causal", Kind::flag},
    {"attention.scale", "halogen.attention.scale", Kind::real, 0, kAny},
    {"attention.sliding_window", "halogen.attention.sliding_window", Kind::count, 0, kMaxU32},
    {"attention.sliding_window_pattern", "halogen.attention.sliding_window_pattern",
     Kind::layer_pattern, 0, kMaxLayers},
    {"attention.max_alibi_bias", "halogen.attention.alibi_bias", Kind::real, 0, kAny},
    {"attention.clamp_kqv", "halogen.attention.clamp_qkv", Kind::real, 0, kAny},
    {"attn_logit_softcapping", "halogen.attention.softcap", Kind::real, 0, kAny},
    {"attention.temperature_scale", "halogen.attention.temperature_scale", Kind::real, 0, kAny},
    {"attention.temperature_length", "halogen.attention.temperature_length", Kind::count, 0,
     kMaxU32},
    {"full_attention_interval", "halogen.attention.full_interval", Kind::count, 1, kMaxLayers},

    {"attention.layer_norm_rms_epsilon", "halogen.norm.rms_epsilon", Kind::real, 0, 1},
    {"attention.layer_norm_epsilon", "halogen.norm.epsilon", Kind::real, 0, 1},

    {"rope.freq_base", "halogen.rope.base", Kind::real, kAboveZero, kAny},
    {"rope.freq_base_swa", "halogen.rope.window_base", Kind::real, kAboveZero, kAny},
    {"rope.dimension_count", "halogen.rope.dimensions", Kind::count, 0, kMaxWidth},
    {"rope.dimension_count_swa", "halogen.rope.window_dimensions", Kind::count, 0, kMaxWidth},
    {"rope.dimension_sections", "halogen.rope.sections", Kind::integers},
    {"rope.scaling.type", "halogen.rope.scaling.type", Kind::text},
    {"rope.scaling.factor", "halogen.rope.scaling.factor", Kind::real, kAboveZero, kAny},
    {"rope.scale_linear", "halogen.rope.scaling.factor", Kind::real, kAboveZero, kAny},
    {"rope.scaling.original_context_length", "halogen.rope.scaling.original_context", Kind::count,
     1, kMaxU32},
    {"rope.scaling.attn_factor", "halogen.rope.scaling.attention_factor", Kind::real, kAboveZero,
     kAny},
    {"rope.scaling.yarn_log_multiplier", "halogen.rope.scaling.yarn_log_multiplier", Kind::real,
     -kAny, kAny},
    {"rope.scaling.yarn_ext_factor", "halogen.rope.scaling.yarn_extrapolation", Kind::real, -kAny,
     kAny},
    {"rope.scaling.yarn_attn_factor", "halogen.rope.scaling.yarn_attention_factor", Kind::real,
     -kAny, kAny},
    {"rope.scaling.yarn_beta_fast", "halogen.rope.scaling.yarn_beta_fast", Kind::real, -kAny, kAny},
    {"rope.scaling.yarn_beta_slow", "halogen.rope.scaling.yarn_beta_slow", Kind::real, -kAny, kAny},

    {"expert_count", "halogen.experts", Kind::count, 0, 65536},
    {"expert_used_count", "halogen.experts_used", Kind::count, 0, 65536},
    {"expert_shared_count", "halogen.experts_shared", Kind::count, 0, 65536},
    {"expert_feed_forward_length", "halogen.expert_feed_forward_size", Kind::layer_counts, 0,
     kMaxWidth},
    {"expert_shared_feed_forward_length", "halogen.shared_expert_feed_forward_size",
     Kind::layer_counts, 0, kMaxWidth},
    {"expert_gating_func", "halogen.expert_gating", Kind::choice, 0, 0, kGating},
    {"expert_weights_norm", "halogen.expert_weights_normalised", Kind::flag},
    {"expert_weights_scale", "halogen.expert_weights_scale", Kind::real, -kAny, kAny},
    {"expert_group_count", "halogen.expert_groups", Kind::count, 0, 65536},
    {"expert_group_used_count", "halogen.expert_groups_used", Kind::count, 0, 65536},
    {"leading_dense_block_count", "halogen.leading_dense_layers", Kind::count, 0, kMaxLayers},
    {"interleave_moe_layer_step", "halogen.expert_layer_step", Kind::count, 0, kMaxLayers},
    {"moe_every_n_layers", "halogen.expert_layer_step", Kind::count, 0, kMaxLayers},
    {"nextn_predict_layers", "halogen.next_token_layers", Kind::count, 0, kMaxLayers},

    {"ssm.conv_kernel", "halogen.state.convolution_kernel", Kind::count, 0, 65536},
    {"ssm.inner_size", "halogen.state.inner_size", Kind::count, 0, kMaxWidth},
    {"ssm.state_size", "halogen.state.state_size", Kind::count, 0, kMaxWidth},
    {"ssm.time_step_rank", "halogen.state.time_step_rank", Kind::count, 0, kMaxWidth},
    {"ssm.group_count", "halogen.state.groups", Kind::count, 0, kMaxWidth},
};

constexpr Rule kTokenizer[] = {
    {"tokenizer.ggml.model", "halogen.tokenizer.model", Kind::text},
    {"tokenizer.ggml.pre", "halogen.tokenizer.pre", Kind::text},
    {"tokenizer.ggml.tokens", "halogen.tokenizer.tokens", Kind::texts},
    {"tokenizer.ggml.scores", "halogen.tokenizer.scores", Kind::reals},
    {"tokenizer.ggml.token_type", "halogen.tokenizer.types", Kind::integers},
    {"tokenizer.ggml.merges", "halogen.tokenizer.merges", Kind::texts},
    {"tokenizer.ggml.token_type_count", "halogen.token_types", Kind::count, 0, kMaxWidth},
    {"tokenizer.ggml.bos_token_id", "halogen.tokenizer.bos", Kind::token_id},
    {"tokenizer.ggml.eos_token_id", "halogen.tokenizer.eos", Kind::token_id},
    {"tokenizer.ggml.eot_token_id", "halogen.tokenizer.eot", Kind::token_id},
    {"tokenizer.ggml.eom_token_id", "halogen.tokenizer.eom", Kind::token_id},
    {"tokenizer.ggml.unknown_token_id", "halogen.tokenizer.unk", Kind::token_id},
    {"tokenizer.ggml.padding_token_id", "halogen.tokenizer.pad", Kind::token_id},
    {"tokenizer.ggml.seperator_token_id", "halogen.tokenizer.sep", Kind::token_id},  // sic
    {"tokenizer.ggml.cls_token_id", "halogen.tokenizer.cls", Kind::token_id},
    {"tokenizer.ggml.mask_token_id", "halogen.tokenizer.mask", Kind::token_id},
    {"tokenizer.ggml.fim_pre_token_id", "halogen.tokenizer.fim_prefix", Kind::token_id},
    {"tokenizer.ggml.fim_suf_token_id", "halogen.tokenizer.fim_suffix", Kind::token_id},
    {"tokenizer.ggml.fim_mid_token_id", "halogen.tokenizer.fim_middle", Kind::token_id},
    {"tokenizer.ggml.fim_pad_token_id", "halogen.tokenizer.fim_pad", Kind::token_id},
    {"tokenizer.ggml.fim_rep_token_id", "halogen.tokenizer.fim_repository", Kind::token_id},
    {"tokenizer.ggml.fim_sep_token_id", "halogen.tokenizer.fim_separator", Kind::token_id},
    {"tokenizer.ggml.prefix_token_id", "halogen.tokenizer.fim_prefix", Kind::token_id},
    {"tokenizer.ggml.suffix_token_id", "halogen.tokenizer.fim_suffix", Kind::token_id},
    {"tokenizer.ggml.middle_token_id", "halogen.tokenizer.fim_middle", Kind::token_id},
    {"tokenizer.ggml.add_bos_token", "halogen.tokenizer.add_bos", Kind::flag},
    {"tokenizer.ggml.add_eos_token", "halogen.tokenizer.add_eos", Kind::flag},
    {"tokenizer.ggml.add_sep_token", "halogen.tokenizer.add_sep", Kind::flag},
    {"tokenizer.ggml.add_space_prefix", "halogen.tokenizer.add_space_prefix", Kind::flag},
    {"tokenizer.ggml.remove_extra_whitespaces", "halogen.tokenizer.remove_extra_spaces",
     Kind::flag},
    {"tokenizer.ggml.escape_whitespaces", "halogen.tokenizer.escape_spaces", Kind::flag},
    {"tokenizer.ggml.normalizer.lowercase", "halogen.tokenizer.lowercase", Kind::flag},
    {"tokenizer.ggml.precompiled_charsmap", "halogen.tokenizer.character_map", Kind::integers},
    {"tokenizer.huggingface.json", "halogen.tokenizer.json", Kind::text},
    {"tokenizer.chat_template", "halogen.chat_template", Kind::text},
};

// Sorted, for a binary search. From the ggml documentation of each architecture's rope mode.
constexpr std::string_view kAdjacent[] = {
    "arcee",        "arctic",    "baichuan",    "bailingmoe",    "chameleon",  "chatglm",
    "cohere2",      "command-r", "deci",        "deepseek",      "deepseek2",  "ernie4_5",
    "ernie4_5-moe", "glm4",      "granite",     "granitehybrid", "granitemoe", "internlm2",
    "llada",        "llama",     "llama-embed", "llama4",        "minicpm",    "mistral3",
    "mistral4",     "neo-bert",  "olmo",        "plm",           "smollm3",    "starcoder",
    "xverse"};

constexpr std::string_view kHalves[] = {
    "apertus",      "bailingmoe2", "bitnet",          "codeshell",      "dbrx",
    "dots1",        "dream",       "exaone",          "exaone4",        "falcon",
    "falcon-h1",    "gemma",       "gemma-embedding", "gemma2",         "gemma3",
    "gemma3n",      "gemma4",      "glm4moe",         "gpt-oss",        "gptneox",
    "grok",         "grovemoe",    "hunyuan-dense",   "hunyuan-moe",    "jina-bert-v3",
    "lfm2",         "lfm2moe",     "llada-moe",       "minicpm3",       "minimax-m2",
    "modern-bert",  "nemotron",    "nomic-bert",      "nomic-bert-moe", "olmo2",
    "olmoe",        "openelm",     "orion",           "phi2",           "phi3",
    "phimoe",       "plamo",       "plamo2",          "qwen",           "qwen2",
    "qwen2moe",     "qwen2vl",     "qwen3",           "qwen35",         "qwen35moe",
    "qwen3moe",     "qwen3next",   "qwen3vl",         "qwen3vlmoe",     "seed_oss",
    "smallthinker", "stablelm",    "starcoder2"};

static_assert(std::is_sorted(std::begin(kAdjacent), std::end(kAdjacent)));
static_assert(std::is_sorted(std::begin(kHalves), std::end(kHalves)));

bool contains(std::span<const std::string_view> sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace

std::span<const Rule> general_rules() {
  return kGeneral;
}
std::span<const Rule> architecture_rules() {
  return kArchitecture;
}
std::span<const Rule> tokenizer_rules() {
  return kTokenizer;
}

std::string_view rope_pairing(std::string_view architecture) {
  if (contains(kAdjacent, architecture)) return "adjacent";
  if (contains(kHalves, architecture)) return "halves";
  return {};
}

std::string_view rope_section_order(std::string_view architecture) {
  if (architecture == "qwen2vl") return "blocks";
  if (architecture.starts_with("qwen3vl") || architecture.starts_with("qwen35")) {
    return "interleaved";
  }
  return {};
}

}  // namespace halogen::gguf
