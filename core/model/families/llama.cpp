// Llama 2 and 3.x, Mistral, and the many checkpoints of the same shape. Llama 3's rope scaling
// comes as factors in the file; biases are used where the file has them.
#include "core/model/families/dense_decoder.h"

namespace halogen {

void build_llama(ModelBuilder& builder, const Hyperparameters& hyperparameters) {
  build_dense_decoder(builder, hyperparameters, {.pairing = HALOGEN_ROPE_ADJACENT});
}

}  // namespace halogen
