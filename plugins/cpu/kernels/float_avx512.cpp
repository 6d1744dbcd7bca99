// The kernels of float_kernels.h, compiled for AVX-512.
#include "plugins/cpu/kernels/float_kernels.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::avx512 {

void add_float_kernels(KernelSet& set) {
  fill_float_kernels(set);
}

}  // namespace halogen::cpu::avx512
