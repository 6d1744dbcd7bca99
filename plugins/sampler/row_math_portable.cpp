// The passes for any processor, and the choice between the sets.
#define HALOGEN_ROW_LANES 4
#include "row_math_passes.h"

namespace sampler {

const RowMath kPortableRowMath = passes("portable");

const RowMath& row_math() {
#ifdef HALOGEN_SAMPLER_AVX2
  if (__builtin_cpu_supports("avx2")) return kAvx2RowMath;
#endif
  return kPortableRowMath;
}

}  // namespace sampler
