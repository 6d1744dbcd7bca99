// Linear kernels for AVX2, FMA and F16C: panels of eight rows, a row in each 32-bit lane.
#include "plugins/cpu/kernels/avx2_floats.h"
#include "plugins/cpu/kernels/avx2_formats.h"
#include "plugins/cpu/kernels/kernel_parts.h"
#include "plugins/cpu/kernels/linear_panels.h"

namespace halogen::cpu::avx2 {
namespace {

// How many vectors of products fit a sum of 16 bits: a power of two.
template <class Format>
constexpr int products_per_sum() {
  int n = 1;
  while (n < 8 && 2 * n * 2 * 127 * Format::kLargestCode <= INT16_MAX) n *= 2;
  return n;
}

// Fixes the order of additions: GCC would turn a chain into a tree and spill its many leaves.
[[gnu::always_inline]] inline void compute_now(__m256i& value) {
  asm("" : "+x"(value));
}

// Adds to sum[t], in each lane: multiplier * (the products of Vectors * 4 codes with those of q[t],
// from `first` on). The two halves of a multiplier's lanes are equal.
template <class Format, int Vectors, int Tokens>
[[gnu::always_inline]] inline void add_products(const __m256i* codes,
                                                const int8_t* const (&q)[Tokens],
                                                __m256i multiplier, __m256i (&sum)[Tokens]) {
  constexpr int kTogether =
      products_per_sum<Format>() < Vectors ? products_per_sum<Format>() : Vectors;
  unroll<Vectors / kTogether>([&](auto part) __attribute__((always_inline)) {
    __m256i pairs[Tokens];
    unroll<kTogether>([&](auto i) __attribute__((always_inline)) {
      constexpr int kVector = part * kTogether + i;
      const __m256i code = codes[kVector];
      const __m256i magnitude = Format::kSigned ? _mm256_abs_epi8(code) : code;
      for (int t = 0; t < Tokens; ++t) {
        const __m256i x = _mm256_set1_epi32(integer_at<int>(q[t], 4 * kVector));
        const __m256i products =
            _mm256_maddubs_epi16(magnitude, Format::kSigned ? _mm256_sign_epi8(x, code) : x);
        pairs[t] = i == 0 ? products : _mm256_add_epi16(pairs[t], products);
        compute_now(pairs[t]);
      }
    });
    for (int t = 0; t < Tokens; ++t)
      sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(pairs[t], multiplier));
  });
}

inline __m256i first_rows(size_t n_rows) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n_rows)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

template <int Tokens>
inline void load_totals(float* const (&y)[Tokens], size_t n_rows, bool first,
                        __m256 (&total)[Tokens]) {
  const __m256i rows = first_rows(first ? 0 : n_rows);
  for (int t = 0; t < Tokens; ++t) total[t] = _mm256_maskload_ps(y[t], rows);
}

template <int Tokens>
inline void store_totals(float* const (&y)[Tokens], size_t n_rows, const __m256 (&total)[Tokens]) {
  const __m256i rows = first_rows(n_rows);
  for (int t = 0; t < Tokens; ++t) _mm256_maskstore_ps(y[t], rows, total[t]);
}

template <class Format>
struct BlockKernel {
  using Block = typename Format::Block;
  using Activations = Q8Block;
  struct PanelBlock {
    __m256i codes[8];
    __m256 scale;
    __m256 minimum;
  };
  static constexpr size_t kElements = kBlock;
  static constexpr size_t kRows = avx2::kRows;
  static constexpr int kTokens = 6;
  static constexpr size_t kDirectTokens = 4;

  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    Format::unpack(rows, out.codes);
    Format::scales(rows, out.scale, out.minimum);
  }

  template <int Tokens>
  static void tile(const PanelBlock* panel, size_t n_blocks, const Q8Block* const (&x)[Tokens],
                   float* const (&y)[Tokens], size_t n_rows, bool first) {
    __m256 total[Tokens];
    load_totals(y, n_rows, first, total);
    for (size_t b = 0; b < n_blocks; ++b) add_block(panel[b], x, b, total);
    store_totals(y, n_rows, total);
  }

  using Total = __m256;
  template <int Tokens, class Source>
  [[gnu::always_inline]] static inline void add(const Source& rows,
                                                const Q8Block* const (&x)[Tokens], size_t b,
                                                Total (&totals)[Tokens]) {
    PanelBlock w;
    unpack(rows, w);
    add_block(w, x, b, totals);
  }
  static void store(Total total, float* y, size_t n_rows) {
    _mm256_maskstore_ps(y, first_rows(n_rows), total);
  }

 private:
  template <int Tokens>
  [[gnu::always_inline]] static inline void add_block(const PanelBlock& w,
                                                      const Q8Block* const (&x)[Tokens], size_t b,
                                                      __m256 (&total)[Tokens]) {
    const int8_t* q[Tokens];
    __m256i sum[Tokens];
    for (int t = 0; t < Tokens; ++t) {
      q[t] = x[t][b].q;
      sum[t] = Format::kOffset ? _mm256_set1_epi32(x[t][b].negative_sum) : _mm256_setzero_si256();
      if constexpr (Format::kOffset == 8) sum[t] = _mm256_slli_epi32(sum[t], 3);
      if constexpr (Format::kOffset == 16) sum[t] = _mm256_slli_epi32(sum[t], 4);
      if constexpr (Format::kOffset == 12)
        sum[t] = _mm256_add_epi32(_mm256_slli_epi32(sum[t], 3), _mm256_slli_epi32(sum[t], 2));
    }
    add_products<Format, 8>(w.codes, q, _mm256_set1_epi16(1), sum);
    for (int t = 0; t < Tokens; ++t) {
      const __m256 scale = _mm256_mul_ps(w.scale, _mm256_broadcast_ss(&x[t][b].scale));
      total[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[t]), scale, total[t]);
      if constexpr (Format::kHasMinimum)
        total[t] = _mm256_fmadd_ps(w.minimum, _mm256_broadcast_ss(&x[t][b].sum), total[t]);
    }
  }
};

template <class Format>
struct SuperBlockKernel {
  using Block = typename Format::Block;
  using Activations = Q8SuperBlock;
  using Scales = SuperBlockScales<Format::kSubBlock>;
  struct PanelBlock {
    __m256i codes[kSuperBlock / 4];
    Scales scales;
  };
  static constexpr size_t kElements = kSuperBlock;
  static constexpr size_t kRows = avx2::kRows;
  static constexpr int kTokens = 6;
  static constexpr size_t kDirectTokens = 4;

  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    Format::scales(rows, out.scales);
    Format::visit(rows, [&](int j, const __m256i(&codes)[4]) __attribute__((always_inline)) {
      for (int i = 0; i < 4; ++i) out.codes[4 * j + i] = codes[i];
    });
  }

  template <int Tokens>
  static void tile(const PanelBlock* panel, size_t n_blocks, const Q8SuperBlock* const (&x)[Tokens],
                   float* const (&y)[Tokens], size_t n_rows, bool first) {
    __m256 total[Tokens];
    load_totals(y, n_rows, first, total);
    for (size_t b = 0; b < n_blocks; ++b) {
      __m256i sum[Tokens];
      for (auto& of_token : sum) of_token = _mm256_setzero_si256();
      for (int j = 0; j < kSuperBlock / Format::kSubBlock; ++j) {
        const int8_t* q[Tokens];
        for (int t = 0; t < Tokens; ++t) q[t] = x[t][b].q + Format::kSubBlock * j;
        add_products<Format, Format::kSubBlock / 4>(panel[b].codes + Format::kSubBlock / 4 * j, q,
                                                    panel[b].scales.of[j], sum);
      }
      for (int t = 0; t < Tokens; ++t)
        total[t] = finish_block(panel[b].scales, x[t][b], sum[t], total[t]);
    }
    store_totals(y, n_rows, total);
  }

  using Total = __m256;
  template <int Tokens, class Source>
  [[gnu::always_inline]] static inline void add(const Source& rows,
                                                const Q8SuperBlock* const (&x)[Tokens], size_t b,
                                                Total (&totals)[Tokens]) {
    Scales scales;
    Format::scales(rows, scales);
    __m256i sum[Tokens];
    for (auto& of_token : sum) of_token = _mm256_setzero_si256();
    Format::visit(rows, [&](int j, const __m256i(&codes)[4]) __attribute__((always_inline)) {
      const int8_t* q[Tokens];
      for (int t = 0; t < Tokens; ++t) q[t] = x[t][b].q + 16 * j;
      add_products<Format, 4>(codes, q, scales.of[16 * j / Format::kSubBlock], sum);
    });
    for (int t = 0; t < Tokens; ++t) totals[t] = finish_block(scales, x[t][b], sum[t], totals[t]);
  }
  static void store(Total total, float* y, size_t n_rows) {
    _mm256_maskstore_ps(y, first_rows(n_rows), total);
  }

 private:
  [[gnu::always_inline]] static inline __m256 finish_block(const Scales& w, const Q8SuperBlock& x,
                                                           __m256i sum, __m256 total) {
    __m256i offset = _mm256_setzero_si256();
    if constexpr (Format::kOffset != Offset::kNone)
      for (int i = 0; i < 8; ++i)
        offset = _mm256_add_epi32(
            offset,
            _mm256_madd_epi16(w.offsets[i], _mm256_set1_epi32(integer_at<int>(x.sums, 4 * i))));
    if constexpr (Format::kOffset == Offset::kCodes) sum = _mm256_sub_epi32(sum, offset);
    const __m256 scale = _mm256_broadcast_ss(&x.scale);
    total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_mul_ps(w.scale, scale), total);
    if constexpr (Format::kOffset == Offset::kMinima)
      total = _mm256_fnmadd_ps(_mm256_cvtepi32_ps(offset), _mm256_mul_ps(w.minimum, scale), total);
    return total;
  }
};

LinearKernel* linear(halogen_type type) {
  switch (type) {
    case HALOGEN_Q4_0:
      return &run_panels<BlockKernel<Q4_0>>;
    case HALOGEN_Q4_1:
      return &run_panels<BlockKernel<Q4_1>>;
    case HALOGEN_Q5_0:
      return &run_panels<BlockKernel<Q5_0>>;
    case HALOGEN_Q5_1:
      return &run_panels<BlockKernel<Q5_1>>;
    case HALOGEN_Q8_0:
      return &run_panels<BlockKernel<Q8_0>>;
    case HALOGEN_IQ4_NL:
      return &run_panels<BlockKernel<IQ4_NL>>;
    case HALOGEN_MXFP4:
      return &run_panels<BlockKernel<MXFP4>>;
    case HALOGEN_Q2_K:
      return &run_panels<SuperBlockKernel<Q2_K>>;
    case HALOGEN_Q3_K:
      return &run_panels<SuperBlockKernel<Q3_K>>;
    case HALOGEN_Q4_K:
      return &run_panels<SuperBlockKernel<Q4_K>>;
    case HALOGEN_Q5_K:
      return &run_panels<SuperBlockKernel<Q5_K>>;
    case HALOGEN_Q6_K:
      return &run_panels<SuperBlockKernel<Q6_K>>;
    case HALOGEN_IQ4_XS:
      return &run_panels<SuperBlockKernel<IQ4_XS>>;
    default:
      return float_kernel(type);
  }
}

}  // namespace

void add_linear_kernels(KernelSet& set) {
  set.linear = linear;
  set.panel_rows = kRows;
}

}  // namespace halogen::cpu::avx2
