// The exact linear kernels for AVX2: weights dequantised a block at a time, F32 activations.
#include "plugins/cpu/kernels/avx2_floats.h"
#include "plugins/cpu/kernels/block_unpack.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::avx2 {
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
    __m256 total[Tokens];
    for (auto& sum : total) sum = _mm256_setzero_ps();
    alignas(32) float values[kElements];
    for (size_t j = 0; j < call.k; j += kElements) {
      dequantise_block<Format>(blocks[j / kElements], values);
      for (size_t i = 0; i < kElements; i += 8) {
        const __m256 w = _mm256_load_ps(values + i);
        for (int t = 0; t < Tokens; ++t)
          total[t] = _mm256_fmadd_ps(w, F32Elements::load(x[t] + (j + i) * 4), total[t]);
      }
    }
    for (int t = 0; t < Tokens; ++t) y[t][row] = sum_lanes(total[t]);
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

}  // namespace halogen::cpu::avx2
