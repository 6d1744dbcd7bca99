// The decoder that Llama, Mistral, Qwen2 and Qwen3 share: pre-norm blocks of grouped-query
// attention with rotary positions and a gated feed-forward, RMS norms, an output matrix that may be
// the embedding itself.
//
//   Touvron et al. 2023, arXiv:2302.13971 (Llama); Jiang et al. 2023, arXiv:2310.06825 (Mistral:
//   window); Yang et al. 2024, arXiv:2407.10671 (Qwen2: biases on q, k, v); Qwen team 2025,
//   arXiv:2505.09388 (Qwen3: an RMS norm over each head of q and k).
#pragma once

#include "core/model/model_graph.h"

namespace halogen {

struct DenseDecoder {
  halogen_rope_pairing pairing;    // where the file does not say
  bool requires_qkv_bias = false;  // else a bias is used where the file has one
  bool qk_norm = false;            // the norms over q's and k's heads are there
};

void build_dense_decoder(ModelBuilder& builder, const Hyperparameters& h,
                         const DenseDecoder& decoder);

}  // namespace halogen
