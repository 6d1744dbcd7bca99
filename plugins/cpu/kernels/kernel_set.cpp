// Puts the tables together, one per instruction set.
#include "plugins/cpu/kernels/kernel_set.h"

#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu {
namespace {

KernelSet portable_set() {
  KernelSet set = {};
  set.set = InstructionSet::kPortable;
  set.name = instruction_set_name(set.set);
  portable::add_float_kernels(set);
  portable::add_linear_kernels(set);
  portable::add_exact_kernels(set);
  portable::add_attention_kernels(set);
  return set;
}

#ifdef HALOGEN_CPU_X86
KernelSet avx2_set() {
  KernelSet set = {};
  set.set = InstructionSet::kAvx2;
  set.name = instruction_set_name(set.set);
  avx2::add_float_kernels(set);
  avx2::add_linear_kernels(set);
  avx2::add_exact_kernels(set);
  avx2::add_attention_kernels(set);
  return set;
}

// What 512-bit registers make faster; the rest is that of AVX2.
KernelSet avx512_set() {
  KernelSet set = avx2_set();
  set.set = InstructionSet::kAvx512;
  set.name = instruction_set_name(set.set);
  avx512::add_float_kernels(set);
  avx512::add_linear_kernels(set);
  avx512::add_attention_kernels(set);
  return set;
}
#endif

}  // namespace

const KernelSet& kernels(InstructionSet set) {
  static const KernelSet portable = portable_set();
#ifdef HALOGEN_CPU_X86
  static const KernelSet avx2 = avx2_set();
  if (set == InstructionSet::kAvx2) return avx2;
  static const KernelSet avx512 = avx512_set();
  if (set == InstructionSet::kAvx512) return avx512;
#else
  static_cast<void>(set);
#endif
  return portable;
}

}  // namespace halogen::cpu
