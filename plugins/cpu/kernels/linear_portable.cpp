// Linear kernels in plain C++: the reference for every instruction set, and what runs where there
// is no better one. Within a block the sum is exact, in integers; blocks are added in F32 from
// first to last, each with one fused multiply-add. std::fma gives these bits on any machine: the C
// library takes the processor's instruction where there is one.
#include <cmath>

#include "plugins/cpu/kernels/block_unpack.h"
#include "plugins/cpu/kernels/kernel_parts.h"
#include "plugins/cpu/kernels/linear_panels.h"
#include "plugins/cpu/kernels/portable_floats.h"

namespace halogen::cpu::portable {
namespace {

// What both kinds of kernel share: Blocks::add_block adds one unpacked block to a token's total.
template <class Format, class Unpacked, class Q8, size_t Elements, class Blocks>
struct PanelKernel {
  using Block = typename Format::Block;
  using Activations = Q8;
  using PanelBlock = Unpacked;
  static constexpr size_t kElements = Elements;
  static constexpr size_t kRows = 1;
  static constexpr int kTokens = 4;
  static constexpr size_t kDirectTokens = 4;

  static void unpack(const Block* const (&rows)[1], Unpacked& out) {
    Format::unpack(*rows[0], out);
  }

  template <int Tokens>
  static void tile(const Unpacked* panel, size_t n_blocks, const Q8* const (&x)[Tokens],
                   float* const (&y)[Tokens], size_t /*n_rows*/, bool first) {
    for (int t = 0; t < Tokens; ++t) {
      float total = first ? 0.0f : *y[t];
      for (size_t b = 0; b < n_blocks; ++b) total = Blocks::add_block(panel[b], x[t][b], total);
      *y[t] = total;
    }
  }

  using Total = float;
  template <int Tokens>
  static void add(const Block* const (&rows)[1], const Q8* const (&x)[Tokens], size_t b,
                  float (&totals)[Tokens]) {
    Unpacked w;
    unpack(rows, w);
    for (int t = 0; t < Tokens; ++t) totals[t] = Blocks::add_block(w, x[t][b], totals[t]);
  }
  static void store(float total, float* y, size_t /*n_rows*/) { *y = total; }
};

template <class Format>
struct BlockKernel
    : PanelKernel<Format, UnpackedBlock, Q8Block, size_t{kBlock}, BlockKernel<Format>> {
  static float add_block(const UnpackedBlock& w, const Q8Block& a, float total) {
    int32_t dot = 0;
    for (int i = 0; i < kBlock; ++i) dot += w.q[i] * a.q[i];
    total = std::fma(static_cast<float>(dot), w.scale * a.scale, total);
    if constexpr (Format::kHasMinimum) total = std::fma(w.minimum, a.sum, total);
    return total;
  }
};

template <class Format>
struct SuperBlockKernel : PanelKernel<Format, UnpackedSuperBlock, Q8SuperBlock, size_t{kSuperBlock},
                                      SuperBlockKernel<Format>> {
  static float add_block(const UnpackedSuperBlock& w, const Q8SuperBlock& a, float total) {
    int32_t dot = 0;
    for (int j = 0; j < 16; ++j) {
      int32_t part = 0;
      for (int i = 0; i < 16; ++i) part += w.q[16 * j + i] * a.q[16 * j + i];
      dot += w.scales[j] * part;
    }
    total = std::fma(static_cast<float>(dot), w.scale * a.scale, total);
    if constexpr (Format::kHasMinimum) {
      int32_t offset = 0;
      for (int j = 0; j < 16; ++j) offset += w.minima[j] * a.sums[j];
      total = std::fma(-static_cast<float>(offset), w.minimum * a.scale, total);
    }
    return total;
  }
};

LinearKernel* linear(halogen_type type) {
  LinearKernel* kernel = float_kernel(type);
  visit_quantised(type, [&]<class Format>() {
    if constexpr (sizeof(typename Format::Block) < 40)
      kernel = &run_panels<BlockKernel<Format>>;
    else
      kernel = &run_panels<SuperBlockKernel<Format>>;
  });
  return kernel;
}

}  // namespace

void add_linear_kernels(KernelSet& set) {
  set.linear = linear;
}

}  // namespace halogen::cpu::portable
