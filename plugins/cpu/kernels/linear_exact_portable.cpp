// The exact linear kernels in plain C++: weights dequantised a block at a time, F32 activations.
#include "plugins/cpu/kernels/block_unpack.h"
#include "plugins/cpu/kernels/kernel_parts.h"
#include "plugins/cpu/kernels/portable_floats.h"

namespace halogen::cpu::portable {
namespace {

template <class Format>
struct ExactKernel {
  static constexpr int kRows = 1;
  static constexpr int kRowsOfOneToken = 1;

  template <int Rows, int Tokens>
  static void tile(const LinearCall& call, size_t row, const uint8_t* const (&x)[Tokens],
                   float* const (&y)[Tokens]) {
    constexpr size_t kElements = sizeof(typename Format::Block) < 40 ? kBlock : kSuperBlock;
    const auto* blocks = reinterpret_cast<const typename Format::Block*>(weight_row(call, row));
    Lanes total[Tokens];
    float values[kElements];
    for (size_t j = 0; j < call.k; j += kElements) {
      dequantise_block<Format>(blocks[j / kElements], values);
      for (int t = 0; t < Tokens; ++t)
        total[t].multiply_add(values, reinterpret_cast<const float*>(x[t]) + j, kElements);
    }
    for (int t = 0; t < Tokens; ++t) y[t][row] = total[t].sum();
  }
};

LinearKernel* linear_exact(halogen_type type) {
  switch (type) {
    case HALOGEN_F32:
      return &run_linear<FloatKernel<F32Elements>>;
    case HALOGEN_F16:
      return &run_linear<FloatKernel<F16Elements>>;
    case HALOGEN_BF16:
      return &run_linear<FloatKernel<BF16Elements>>;
    default:
      break;
  }
  LinearKernel* kernel = nullptr;
  visit_quantised(type, [&]<class Format>() { kernel = &run_linear<ExactKernel<Format>>; });
  return kernel;
}

}  // namespace

void add_exact_kernels(KernelSet& set) {
  set.linear_exact = linear_exact;
}

}  // namespace halogen::cpu::portable
