// Run-time detection of the instruction sets that the kernel sets need.
#include "plugins/cpu/kernels/cpu_features.h"

#include <initializer_list>

namespace halogen::cpu {

bool available(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable:
      return true;
    case InstructionSet::kAvx2:
#ifdef HALOGEN_CPU_X86
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c");
#else
      return false;
#endif
    case InstructionSet::kAvx512:
#ifdef HALOGEN_CPU_X86
      return available(InstructionSet::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
#else
      return false;
#endif
  }
  return false;
}

InstructionSet best_instruction_set() {
  for (const InstructionSet set : {InstructionSet::kAvx512, InstructionSet::kAvx2})
    if (available(set)) return set;
  return InstructionSet::kPortable;
}

const char* instruction_set_name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable:
      return "portable";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace halogen::cpu
