// Qwen3, dense: an RMS norm over each head of q and k.
#include "core/model/families/dense_decoder.h"

namespace halogen {

void build_qwen3(ModelBuilder& builder, const Hyperparameters& hyperparameters) {
  build_dense_decoder(builder, hyperparameters, {.pairing = HALOGEN_ROPE_HALVES, .qk_norm = true});
}

}  // namespace halogen
