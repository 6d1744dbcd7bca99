// clang-format off
// The metadata of a GGUF model in halogen's vocabulary, which does not depend on the file format.
//
// The rules are the same for every architecture: a key "<arch>.X" of the file, <arch> being the value of
// general.architecture, becomes the key that metadata_rules.cpp gives for X. Counts are u64 and reals f64,
// whatever width the file has. "a layer" marks a value that is one scalar where all layers agree, else an
// array of one a layer, in which 0 means that the layer lacks the thing. A key that the file lacks is
// absent, unless a default is given. A file with tensors must have the keys marked *; one without is a
// vocabulary and need not.
//
//   key, below "halogen."             type         meaning, default
//   architecture *                    string
//   name base_name size_label         string
//   file_type                         u64          the quantisation that most tensors have
//   layers *                          u64          includes next_token_layers
//   context_length *                  u64          tokens, as trained
//   hidden_size *                     u64
//   output_size                       u64          where embeddings are projected to another size
//   feed_forward_size * (1)           u64 a layer
//   vocabulary_size                   u64          the tokens' number; else <arch>.vocab_size; else rows
//                                                  of token_embd.weight
//   token_types                       u64          kinds of segment (BERT)
//   pooling                           string       none mean cls last rank
//   classifier.labels                 string[]
//   embedding_scale residual_scale    f64
//   logit_scale logit_softcap         f64
//
//   attention.heads *                 u64 a layer
//   attention.kv_heads                u64 a layer  default: heads
//   attention.head_dim                u64          of q and k; default: hidden_size / heads
//   attention.value_dim               u64          default: hidden_size / heads
//   attention.window_head_dim         u64          where layers with a window differ
//   attention.window_value_dim        u64
//   attention.latent.head_dim         u64          multi-head latent attention, before absorption
//   attention.latent.value_dim        u64
//   attention.latent.q_rank kv_rank   u64
//   attention.causal                  bool
//   attention.scale softcap           f64
//   attention.sliding_window          u64          tokens
//   attention.sliding_window_pattern  u64, u64[]   every n-th layer sees all; or 1 where a layer has a window
//   attention.alibi_bias clamp_qkv    f64
//   attention.temperature_scale       f64
//   attention.temperature_length      u64
//   attention.full_interval           u64          every n-th layer is attention, the others recurrent
//   norm.rms_epsilon * (2)            f64
//   norm.epsilon                      f64          of layer norm
//
//   rope.pairing                      string       adjacent or halves, see rope_pairing(); absent where the
//                                                  architecture has no rotary embedding
//   rope.base                         f64          default: 10000
//   rope.dimensions                   u64          of a head that are turned; default: head_dim
//   rope.window_base                  f64          of layers with a window
//   rope.window_dimensions            u64
//   rope.sections                     i32[]        frequencies of each position axis
//   rope.section_order                string       blocks or interleaved, by architecture
//   rope.scaling.type                 string       none linear yarn longrope; default: linear where there is
//                                                  a factor, else none
//   rope.scaling.factor               f64          default: 1
//   rope.scaling.original_context     u64
//   rope.scaling.attention_factor     f64
//   rope.scaling.yarn_beta_fast       f64          also yarn_beta_slow yarn_extrapolation
//                                                  yarn_attention_factor yarn_log_multiplier
//
//   experts experts_used              u64
//   experts_shared                    u64
//   expert_feed_forward_size          u64 a layer
//   shared_expert_feed_forward_size   u64 a layer
//   expert_gating                     string       softmax sigmoid softmax_selected (after the choice)
//   expert_weights_normalised         bool
//   expert_weights_scale              f64
//   expert_groups expert_groups_used  u64
//   leading_dense_layers              u64
//   expert_layer_step                 u64          every n-th layer has experts
//   next_token_layers                 u64          for multi-token prediction, the last ones
//   state.convolution_kernel          u64          recurrent layers; also inner_size state_size
//                                                  time_step_rank groups
//
//   sampling.temperature top_p min_p  f64          what the makers recommend; also xtc_probability
//                                                  xtc_threshold repetition_penalty mirostat_tau mirostat_eta
//   sampling.top_k penalty_window     i64          below 1: off
//   sampling.mirostat                 u64
//   sampling.sequence                 string
//
//   tokenizer.model * pre             string       gpt2 llama bert t5 gemma4 ...; the pre-tokenizer's name
//   tokenizer.tokens * (3)            string[]     bytes, not always UTF-8
//   tokenizer.scores                  f32[]        one a token
//   tokenizer.types                   i32[]        one a token: 1 normal, 2 unknown, 3 control, 4 user
//                                                  defined, 5 unused, 6 byte
//   tokenizer.merges (4)              string[]
//   tokenizer.bos eos eot eom unk     u64          token ids, below vocabulary_size; also pad sep cls mask
//                                                  fim_prefix fim_suffix fim_middle fim_pad fim_repository
//                                                  fim_separator
//   tokenizer.add_bos add_eos add_sep bool         also add_space_prefix remove_extra_spaces escape_spaces
//                                                  lowercase
//   tokenizer.character_map           u8[], i8[]   SentencePiece's compiled normaliser
//   tokenizer.json                    string       Hugging Face's file
//   chat_template                     string
//   chat_template.NAME                string       further templates: rerank, tool_use
//
// (1) or expert_feed_forward_size. (2) or norm.epsilon. (3) unless tokenizer.model is none or no_vocab.
// (4) * where tokenizer.model is gpt2 or gemma4.
// clang-format on
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
