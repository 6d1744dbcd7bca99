// Qwen2 and Qwen2.5: biases on q, k and v.
#include "core/model/families/dense_decoder.h"

namespace halogen {

void build_qwen2(ModelBuilder& builder, const Hyperparameters& hyperparameters) {
  build_dense_decoder(builder, hyperparameters,
                      {.pairing = HALOGEN_ROPE_HALVES, .requires_qkv_bias = true});
}

}  // namespace halogen
