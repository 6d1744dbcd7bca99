// Which instruction sets this machine offers, and which of halogen's kernel sets therefore run on
// it.
#pragma once

namespace halogen::cpu {

// The kernel sets, weakest first.
enum class InstructionSet {
  kPortable,  // plain C++, runs everywhere
  kAvx2,      // AVX2, FMA and F16C: x86-64-v3
  kAvx512,    // AVX-512 F, BW, DQ, VL and VNNI: Zen 4 and later, Ice Lake and later
};

// [any] True when this build has the set's kernels and this processor can run them.
bool available(InstructionSet set);

// [any] The strongest available set.
InstructionSet best_instruction_set();

// [any] "portable", "avx2", "avx512"; never null.
const char* instruction_set_name(InstructionSet set);

}  // namespace halogen::cpu
