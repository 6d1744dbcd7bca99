// Linear kernels in plain C++: the reference for every instruction set, and what runs where there
// is no better one. Within a block the sum is exact, in integers; blocks are added in F32 from
// first to last, each with one fused multiply-add. std::fma gives these bits on any machine: the C
// library takes the processor's instruction where there is one.
#include <cmath>

#include "plugins/cpu/kernels/block_unpack.h"
#include "plugins/cpu/kernels/kernel_parts.h"
#include "plugins/cpu/kernels/linear_driver.h"
#include "plugins/cpu/kernels/portable_floats.h"

namespace halogen::cpu::portable {
namespace {

template <class Format>
struct BlockKernel {
  static constexpr int kRows = 1;
  static constexpr int kRowsOfOneToken = 1;

  template <int Rows, int Tokens>
  static void tile(const LinearCall& call, size_t row, const uint8_t* const (&x)[Tokens],
                   float* const (&y)[Tokens]) {
    const auto* blocks = reinterpret_cast<const typename Format::Block*>(weight_row(call, row));
    float total[Tokens] = {};
    for (size_t b = 0; b < call.k / kBlock; ++b) {
      UnpackedBlock w;
      Format::unpack(blocks[b], w);
      for (int t = 0; t < Tokens; ++t) {
        const Q8Block& a = reinterpret_cast<const Q8Block*>(x[t])[b];
        int32_t dot = 0;
        for (int i = 0; i < kBlock; ++i) dot += w.q[i] * a.q[i];
        total[t] = std::fma(static_cast<float>(dot), w.scale * a.scale, total[t]);
        if constexpr (Format::kHasMinimum) total[t] = std::fma(w.minimum, a.sum, total[t]);
      }
    }
    for (int t = 0; t < Tokens; ++t) y[t][row] = total[t];
  }
};

template <class Format>
struct SuperBlockKernel {
  static constexpr int kRows = 1;
  static constexpr int kRowsOfOneToken = 1;

  template <int Rows, int Tokens>
  static void tile(const LinearCall& call, size_t row, const uint8_t* const (&x)[Tokens],
                   float* const (&y)[Tokens]) {
    const auto* blocks = reinterpret_cast<const typename Format::Block*>(weight_row(call, row));
    float total[Tokens] = {};
    for (size_t b = 0; b < call.k / kSuperBlock; ++b) {
      UnpackedSuperBlock w;
      Format::unpack(blocks[b], w);
      for (int t = 0; t < Tokens; ++t) {
        const Q8SuperBlock& a = reinterpret_cast<const Q8SuperBlock*>(x[t])[b];
        int32_t dot = 0;
        for (int j = 0; j < 16; ++j) {
          int32_t part = 0;
          for (int i = 0; i < 16; ++i) part += w.q[16 * j + i] * a.q[16 * j + i];
          dot += w.scales[j] * part;
        }
        total[t] = std::fma(static_cast<float>(dot), w.scale * a.scale, total[t]);
        if constexpr (Format::kHasMinimum) {
          int32_t offset = 0;
          for (int j = 0; j < 16; ++j) offset += w.minima[j] * a.sums[j];
          total[t] = std::fma(-static_cast<float>(offset), w.minimum * a.scale, total[t]);
        }
      }
    }
    for (int t = 0; t < Tokens; ++t) y[t][row] = total[t];
  }
};

LinearKernel* linear(halogen_type type) {
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
  visit_quantised(type, [&]<class Format>() {
    if constexpr (sizeof(typename Format::Block) < 40)
      kernel = &run_linear<BlockKernel<Format>>;
    else
      kernel = &run_linear<SuperBlockKernel<Format>>;
  });
  return kernel;
}

}  // namespace

void add_linear_kernels(KernelSet& set) {
  set.linear = linear;
}

}  // namespace halogen::cpu::portable
