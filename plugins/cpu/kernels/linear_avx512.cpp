// Linear kernels for AVX-512 with VNNI: panels of 16 rows, a row in each 32-bit lane.
#include "plugins/cpu/kernels/avx512_formats.h"
#include "plugins/cpu/kernels/kernel_parts.h"
#include "plugins/cpu/kernels/linear_panels.h"

namespace halogen::cpu::avx512 {
namespace {

inline __m512i broadcast_bytes(const void* four) {
  int bytes;
  std::memcpy(&bytes, four, sizeof bytes);
  return _mm512_set1_epi32(bytes);
}

inline __mmask16 first_rows(size_t n_rows) {
  return static_cast<__mmask16>((1u << n_rows) - 1);
}

template <int Tokens>
inline void load_totals(float* const (&y)[Tokens], size_t n_rows, bool first,
                        __m512 (&total)[Tokens]) {
  const __mmask16 rows = first ? 0 : first_rows(n_rows);
  for (int t = 0; t < Tokens; ++t) total[t] = _mm512_maskz_loadu_ps(rows, y[t]);
}

template <int Tokens>
inline void store_totals(float* const (&y)[Tokens], size_t n_rows, const __m512 (&total)[Tokens]) {
  const __mmask16 rows = first_rows(n_rows);
  for (int t = 0; t < Tokens; ++t) _mm512_mask_storeu_ps(y[t], rows, total[t]);
}

template <class Format, bool HasMinimum>
struct BlockKernel {
  using Block = typename Format::Block;
  using Activations = Q8Block;
  using PanelBlock = avx512::PanelBlock<HasMinimum>;
  static constexpr size_t kElements = kBlock;
  static constexpr size_t kRows = avx512::kRows;
  static constexpr int kTokens = 8;

  static void unpack(Rows<Block> rows, PanelBlock& out) { Format::unpack(rows, out); }

  template <int Tokens>
  static void tile(const PanelBlock* panel, size_t n_blocks, const Q8Block* const (&x)[Tokens],
                   float* const (&y)[Tokens], size_t n_rows, bool first) {
    __m512 total[Tokens];
    load_totals(y, n_rows, first, total);
    for (size_t b = 0; b < n_blocks; ++b) {
      const PanelBlock& w = panel[b];
      __m512i dot[Tokens];
      for (int t = 0; t < Tokens; ++t)
        dot[t] = Format::kOffsetBits ? _mm512_slli_epi32(_mm512_set1_epi32(x[t][b].negative_sum),
                                                         Format::kOffsetBits)
                                     : _mm512_setzero_si512();
      for (int i = 0; i < kBlock / 4; ++i)
        for (int t = 0; t < Tokens; ++t)
          dot[t] = _mm512_dpbusd_epi32(dot[t], w.codes[i], broadcast_bytes(x[t][b].q + 4 * i));
      for (int t = 0; t < Tokens; ++t) {
        const __m512 scale = _mm512_mul_ps(w.scale, _mm512_set1_ps(x[t][b].scale));
        total[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[t]), scale, total[t]);
        if constexpr (HasMinimum)
          total[t] = _mm512_fmadd_ps(w.minimum, _mm512_set1_ps(x[t][b].sum), total[t]);
      }
    }
    store_totals(y, n_rows, total);
  }
};

// Other types: the AVX2 kernels.
LinearKernel* (*others)(halogen_type) = nullptr;

LinearKernel* linear(halogen_type type) {
  switch (type) {
    case HALOGEN_Q4_0:
      return &run_panels<BlockKernel<Q4_0, false>>;
    default:
      return others(type);
  }
}

}  // namespace

void add_linear_kernels(KernelSet& set) {
  others = set.linear;
  set.linear = linear;
}

}  // namespace halogen::cpu::avx512
