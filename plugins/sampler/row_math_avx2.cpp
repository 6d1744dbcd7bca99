// The passes compiled for AVX2.
#define HALOGEN_ROW_LANES 8
#include "row_math_passes.h"

namespace sampler {

const RowMath kAvx2RowMath = passes("avx2");

}  // namespace sampler
