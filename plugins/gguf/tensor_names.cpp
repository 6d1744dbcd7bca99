#include "plugins/gguf/tensor_names.h"

#include <algorithm>
#include <span>

namespace halogen::gguf {
namespace {

struct Translation {
  std::string_view from;
  std::string_view to;
};

constexpr Translation kModelTensors[] = {
    {"token_embd", "token_embedding"},
    {"token_embd_norm", "token_embedding_norm"},
    {"token_types", "token_type_embedding"},
    {"position_embd", "position_embedding"},
    {"output", "output"},
    {"output_norm", "output_norm"},
    {"rope_freqs", "rope.frequency_factors"},
    {"rope_factors_long", "rope.long_factors"},
    {"rope_factors_short", "rope.short_factors"},
    {"cls", "classifier.dense"},
    {"cls.output", "classifier.output"},
    {"cls.norm", "classifier.norm"},
};

// Below "layers.N.".
constexpr Translation kLayerTensors[] = {
    {"attn_norm", "attention_norm"},
    {"attn_norm_2", "attention_norm_2"},
    {"attn_q", "attention.q"},
    {"attn_k", "attention.k"},
    {"attn_v", "attention.v"},
    {"attn_qkv", "attention.qkv"},
    {"attn_gate", "attention.gate"},
    {"attn_output", "attention.output"},
    {"attn_output_norm", "attention_output_norm"},
    {"attn_q_norm", "attention.q_norm"},
    {"attn_k_norm", "attention.k_norm"},
    {"attn_sub_norm", "attention.sub_norm"},
    {"attn_sinks", "attention.sinks"},
    {"attn_rot_embd", "attention.rotary_embedding"},
    {"post_attention_norm", "post_attention_norm"},
    // Multi-head latent attention: q and k/v through a low-rank pair a, b.
    {"attn_q_a", "attention.q_a"},
    {"attn_q_a_norm", "attention.q_a_norm"},
    {"attn_q_b", "attention.q_b"},
    {"attn_kv_a_mqa", "attention.kv_a"},
    {"attn_kv_a_norm", "attention.kv_a_norm"},
    {"attn_kv_b", "attention.kv_b"},
    {"attn_k_b", "attention.k_b"},
    {"attn_v_b", "attention.v_b"},
    {"ffn_norm", "feed_forward_norm"},
    {"ffn_gate", "feed_forward.gate"},
    {"ffn_up", "feed_forward.up"},
    {"ffn_down", "feed_forward.down"},
    {"ffn_sub_norm", "feed_forward.sub_norm"},
    {"post_ffw_norm", "post_feed_forward_norm"},
    {"layer_output_norm", "output_norm"},
    // Mixture of experts: the router, all experts of a layer stacked, the shared expert.
    {"ffn_gate_inp", "feed_forward.router"},
    {"exp_probs_b", "feed_forward.router.score_correction"},
    {"ffn_gate_exps", "feed_forward.experts.gate"},
    {"ffn_up_exps", "feed_forward.experts.up"},
    {"ffn_gate_up_exps", "feed_forward.experts.gate_up"},
    {"ffn_down_exps", "feed_forward.experts.down"},
    {"ffn_gate_inp_shexp", "feed_forward.shared_expert.router"},
    {"ffn_gate_shexp", "feed_forward.shared_expert.gate"},
    {"ffn_up_shexp", "feed_forward.shared_expert.up"},
    {"ffn_down_shexp", "feed_forward.shared_expert.down"},
    // State-space and gated-delta layers.
    {"ssm_in", "state.in"},
    {"ssm_a", "state.a"},
    {"ssm_d", "state.d"},
    {"ssm_dt", "state.dt"},
    {"ssm_x", "state.x"},
    {"ssm_alpha", "state.alpha"},
    {"ssm_beta", "state.beta"},
    {"ssm_ba", "state.beta_alpha"},
    {"ssm_conv1d", "state.convolution"},
    {"ssm_norm", "state.norm"},
    {"ssm_out", "state.out"},
    // Multi-token prediction, after the ordinary layers.
    {"nextn.eh_proj", "next_token.projection"},
    {"nextn.embed_tokens", "next_token.token_embedding"},
    {"nextn.enorm", "next_token.embedding_norm"},
    {"nextn.hnorm", "next_token.hidden_norm"},
    {"nextn.shared_head_head", "next_token.output"},
    {"nextn.shared_head_norm", "next_token.output_norm"},
};

std::string_view translate(std::string_view base, std::span<const Translation> table) {
  const auto* found = std::find_if(table.data(), table.data() + table.size(),
                                   [base](const Translation& row) { return row.from == base; });
  return found == table.data() + table.size() ? std::string_view{} : found->to;
}

// ".weight" or ".bias" at the end, or nothing.
std::string_view suffix_of(std::string_view name) {
  for (const std::string_view suffix : {std::string_view(".weight"), std::string_view(".bias")})
    if (name.ends_with(suffix)) return suffix;
  return {};
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char digit) { return digit >= '0' && digit <= '9'; });
}

// Splits "blk.3.attn_q" into "3" and "attn_q"; false for another form.
bool split_layer(std::string_view name, std::string_view& layer, std::string_view& base) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  layer = name.substr(0, dot);
  base = name.substr(dot + 1);
  return is_number(layer);
}

}  // namespace

std::string normalised_tensor_name(std::string_view raw) {
  const std::string_view suffix = suffix_of(raw);
  const std::string_view name = raw.substr(0, raw.size() - suffix.size());
  std::string_view layer;
  std::string_view base;
  std::string normalised;
  if (split_layer(name, layer, base)) {
    const std::string_view translated = translate(base, kLayerTensors);
    if (translated.empty()) return {};
    normalised.append("layers.").append(layer).append(".").append(translated);
  } else {
    const std::string_view translated = translate(name, kModelTensors);
    if (translated.empty()) return {};
    normalised = translated;
  }
  return normalised.append(suffix);
}

}  // namespace halogen::gguf
