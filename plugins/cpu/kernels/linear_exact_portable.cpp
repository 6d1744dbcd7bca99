// The exact linear kernels in plain C++: weights dequantised a panel at a time, F32 activations.
#include "plugins/cpu/kernels/block_unpack.h"
#include "plugins/cpu/kernels/kernel_parts.h"
#include "plugins/cpu/kernels/portable_floats.h"

namespace halogen::cpu::portable {
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

}  // namespace halogen::cpu::portable
