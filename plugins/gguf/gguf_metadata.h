// The metadata of a GGUF model in halogen's vocabulary, which does not depend on the file format.
//
// <arch> is the value of general.architecture: the rules are the same for llama, qwen2, qwen3,
// mistral3 and all others. Counts are u64, reals f64, whatever width the file has. "a layer" marks
// a value that is one scalar where all layers agree and an array of one a layer where they do not;
// 0 there means that the layer lacks the thing. Keys without a default are absent where the file
// has none. A file with tensors must have the keys marked *; one without tensors is a vocabulary
// and need not.
//
//   normalised key                           type      from, default
//   halogen.architecture *                   string    general.architecture
//   halogen.name, .base_name, .size_label    string    general.name, .basename, .size_label
//   halogen.file_type                        u64       general.file_type
//   halogen.layers *                         u64       <arch>.block_count
//   halogen.context_length *                 u64       <arch>.context_length
//   halogen.hidden_size *                    u64       <arch>.embedding_length
//   halogen.output_size                      u64       <arch>.embedding_length_out
//   halogen.feed_forward_size * (1)          u64 a layer  <arch>.feed_forward_length
//   halogen.vocabulary_size                  u64       number of tokens; else <arch>.vocab_size;
//   else the rows
//                                                      of token_embd.weight
//   halogen.token_types                      u64       tokenizer.ggml.token_type_count,
//   <arch>.token_type_count halogen.pooling                          string    <arch>.pooling_type:
//   none mean cls last rank halogen.classifier.labels                string[]
//   <arch>.classifier.output_labels halogen.embedding_scale, .residual_scale,
//     .logit_scale                           f64       <arch>.embedding_scale, .residual_scale,
//     .logit_scale
//   halogen.logit_softcap                    f64       <arch>.final_logit_softcapping
//   halogen.attention.heads *                u64 a layer  <arch>.attention.head_count
//   halogen.attention.kv_heads               u64 a layer  <arch>.attention.head_count_kv; heads
//   halogen.attention.head_dim               u64       <arch>.attention.key_length; hidden_size /
//   heads halogen.attention.value_dim              u64       <arch>.attention.value_length;
//   hidden_size / heads halogen.attention.window_head_dim,
//     .window_value_dim                      u64       <arch>.attention.key_length_swa,
//     .value_length_swa
//   halogen.attention.latent.head_dim, .value_dim, .q_rank, .kv_rank
//                                            u64       <arch>.attention.key_length_mla,
//                                            .value_length_mla,
//                                                      .q_lora_rank, .kv_lora_rank
//   halogen.attention.causal                 bool      <arch>.attention.causal
//   halogen.attention.scale                  f64       <arch>.attention.scale
//   halogen.attention.softcap                f64       <arch>.attn_logit_softcapping
//   halogen.attention.sliding_window         u64       <arch>.attention.sliding_window, in tokens
//   halogen.attention.sliding_window_pattern u64 or u64[layers]
//   <arch>.attention.sliding_window_pattern: every
//                                                      n-th layer sees all, or 1 where a layer has
//                                                      a window
//   halogen.attention.alibi_bias, .clamp_qkv f64       <arch>.attention.max_alibi_bias, .clamp_kqv
//   halogen.attention.temperature_scale f64, .temperature_length u64 <arch>.attention.temperature_*
//   halogen.attention.full_interval          u64       <arch>.full_attention_interval
//   halogen.norm.rms_epsilon * (2)           f64       <arch>.attention.layer_norm_rms_epsilon
//   halogen.norm.epsilon                     f64       <arch>.attention.layer_norm_epsilon
//   halogen.rope.pairing                     string    "adjacent" or "halves", by architecture
//   (metadata_rules.h);
//                                                      absent where the architecture has no rotary
//                                                      embedding
//   halogen.rope.base                        f64       <arch>.rope.freq_base; 10000
//   halogen.rope.dimensions                  u64       <arch>.rope.dimension_count; head_dim
//   halogen.rope.window_base f64, .window_dimensions u64    <arch>.rope.freq_base_swa,
//   .dimension_count_swa halogen.rope.sections, .section_order    integers, string
//   <arch>.rope.dimension_sections; by architecture halogen.rope.scaling.type                string
//   <arch>.rope.scaling.type: none linear yarn longrope;
//                                                      linear where there is a factor, else none
//   halogen.rope.scaling.factor              f64       <arch>.rope.scaling.factor or
//   .rope.scale_linear; 1 halogen.rope.scaling.original_context    u64
//   <arch>.rope.scaling.original_context_length halogen.rope.scaling.attention_factor,
//   .yarn_log_multiplier, .yarn_extrapolation, .yarn_attention_factor,
//     .yarn_beta_fast, .yarn_beta_slow       f64       <arch>.rope.scaling.attn_factor,
//     .yarn_log_multiplier,
//                                                      .yarn_ext_factor, .yarn_attn_factor,
//                                                      .yarn_beta_*
//   halogen.experts, .experts_used, .experts_shared    u64    <arch>.expert_count,
//   .expert_used_count,
//                                                      .expert_shared_count
//   halogen.expert_feed_forward_size, .shared_expert_feed_forward_size    u64 a layer
//                                                      <arch>.expert_feed_forward_length,
//                                                      .expert_shared_...
//   halogen.expert_gating                    string    <arch>.expert_gating_func: softmax sigmoid
//   softmax_selected halogen.expert_weights_normalised bool, .expert_weights_scale f64
//   <arch>.expert_weights_norm, _scale halogen.expert_groups, .expert_groups_used         u64
//   <arch>.expert_group_count, .expert_group_used_count halogen.leading_dense_layers,
//   .expert_layer_step, .next_token_layers    u64    <arch>.leading_dense_block_count,
//                                                      .interleave_moe_layer_step,
//                                                      .nextn_predict_layers
//   halogen.state.convolution_kernel, .inner_size, .state_size, .time_step_rank, .groups    u64
//   <arch>.ssm.* halogen.sampling.temperature, .top_p, .min_p, .xtc_probability, .xtc_threshold,
//   .repetition_penalty,
//     .mirostat_tau, .mirostat_eta f64; .top_k, .penalty_window i64 (-1, 0: off); .mirostat u64;
//     .sequence string                                 general.sampling.*
//   halogen.tokenizer.model * , .pre         string    tokenizer.ggml.model, .pre
//   halogen.tokenizer.tokens * (3)           string[]  tokenizer.ggml.tokens; raw bytes, not always
//   UTF-8 halogen.tokenizer.scores                 f32[]     tokenizer.ggml.scores, one a token
//   halogen.tokenizer.types                  i32[]     tokenizer.ggml.token_type, one a token: 1
//   normal, 2 unknown,
//                                                      3 control, 4 user defined, 5 unused, 6 byte
//   halogen.tokenizer.merges (4)             string[]  tokenizer.ggml.merges
//   halogen.tokenizer.bos, .eos, .eot, .eom, .unk, .pad, .sep, .cls, .mask, .fim_prefix,
//   .fim_suffix,
//     .fim_middle, .fim_pad, .fim_repository, .fim_separator    u64 below vocabulary_size
//     tokenizer.ggml.*_token_id
//   halogen.tokenizer.add_bos, .add_eos, .add_sep, .add_space_prefix, .remove_extra_spaces,
//   .escape_spaces,
//     .lowercase                             bool      tokenizer.ggml.*
//   halogen.tokenizer.character_map          u8[] or i8[]  tokenizer.ggml.precompiled_charsmap
//   halogen.tokenizer.json                   string    tokenizer.huggingface.json
//   halogen.chat_template                    string    tokenizer.chat_template
//   halogen.chat_template.NAME               string    tokenizer.chat_template.NAME
//
// (1) or halogen.expert_feed_forward_size. (2) or halogen.norm.epsilon. (3) unless the tokenizer's
// model is "none" or "no_vocab". (4) needed where the tokenizer's model is "gpt2".
#pragma once

#include "plugins/gguf/failure.h"
#include "plugins/gguf/gguf_model.h"
#include "plugins/gguf/metadata_values.h"

namespace halogen::gguf {

// Fills `metadata` from `model`, which must outlive it. Checks every key's type and bounds, that
// the numbers fit each other (heads, head size, rotary dimensions, one value a layer), and that the
// vocabulary's arrays fit each other and the embedding. Errors name the first file and the GGUF
// key.
bool normalise_metadata(const GgufModel& model, NormalisedMetadata& metadata, Failure& failure);

}  // namespace halogen::gguf
