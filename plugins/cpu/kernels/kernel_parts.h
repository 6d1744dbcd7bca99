// What the files of each instruction set contribute to its KernelSet.
#pragma once

#include "plugins/cpu/kernels/kernel_set.h"

namespace halogen::cpu {

namespace portable {
void add_float_kernels(KernelSet& set);
void add_linear_kernels(KernelSet& set);
void add_exact_kernels(KernelSet& set);
void add_attention_kernels(KernelSet& set);
}  // namespace portable

namespace avx2 {
void add_float_kernels(KernelSet& set);
void add_linear_kernels(KernelSet& set);
void add_exact_kernels(KernelSet& set);
void add_attention_kernels(KernelSet& set);
}  // namespace avx2

namespace avx512 {
void add_attention_kernels(KernelSet& set);
void add_float_kernels(KernelSet& set);
void add_linear_kernels(KernelSet& set);
}  // namespace avx512

}  // namespace halogen::cpu
