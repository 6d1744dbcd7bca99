// Run-time detection of the instruction sets that the kernel sets need.
#include "plugins/cpu/kernels/cpu_features.h"

namespace halogen::cpu {

bool available(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable:
      return true;
    case InstructionSet::kAvx2:
#ifdef HALOGEN_CPU_AVX2
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c");
#else
      return false;
#endif
  }
  return false;
}

InstructionSet best_instruction_set() {
  return available(InstructionSet::kAvx2) ? InstructionSet::kAvx2 : InstructionSet::kPortable;
}

const char* instruction_set_name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable:
      return "portable";
    case InstructionSet::kAvx2:
      return "avx2";
  }
  return "unknown";
}

}  // namespace halogen::cpu
