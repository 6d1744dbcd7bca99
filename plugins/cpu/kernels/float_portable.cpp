// The kernels of float_kernels.h, compiled for any machine.
#include "plugins/cpu/kernels/float_kernels.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::portable {

void add_float_kernels(KernelSet& set) {
  fill_float_kernels(set);
}

}  // namespace halogen::cpu::portable
