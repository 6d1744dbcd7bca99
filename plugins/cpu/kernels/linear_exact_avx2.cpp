// The exact linear kernels for AVX2: weights dequantised a panel at a time, F32 activations.
#include "plugins/cpu/kernels/avx2_floats.h"
#include "plugins/cpu/kernels/block_unpack.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::avx2 {
namespace {

LinearKernel* linear_exact(halogen_type type) {
  LinearKernel* kernel = float_kernel(type);
  visit_quantised(type, [&]<class Format>() {
    kernel = &run_float_panels<DequantisedSource<Format>, FloatArithmetic>;
  });
  return kernel;
}

}  // namespace

void add_exact_kernels(KernelSet& set) {
  set.linear_exact = linear_exact;
}

}  // namespace halogen::cpu::avx2
