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

// Adds four products of each row.
inline void add_products(__m512i codes, const int8_t* four, __m512i& sum) {
  sum = _mm512_dpbusd_epi32(sum, codes, broadcast_bytes(four));
}

// A tile of one token adds to four accumulators in turn, one of two or three tokens to two:
// vpdpbusd takes four cycles but can start in every one.
template <int Tokens>
inline constexpr int kChains = Tokens == 1   ? 4
                               : Tokens <= 3 ? 2
                                             : 1;

template <int Tokens>
inline void add_chains(__m512i (&dot)[Tokens][kChains<Tokens>]) {
  unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
    auto& chains = dot[t];
    if constexpr (kChains<Tokens> == 4) {
      chains[0] = _mm512_add_epi32(chains[0], chains[2]);
      chains[1] = _mm512_add_epi32(chains[1], chains[3]);
    }
    if constexpr (kChains<Tokens> >= 2) chains[0] = _mm512_add_epi32(chains[0], chains[1]);
  });
}

inline __mmask16 first_rows(size_t n_rows) {
  return static_cast<__mmask16>((1u << n_rows) - 1);
}

// What both kinds of kernel share, beside unpack and add, which they have themselves:
// Blocks::add_block adds one unpacked block to the totals of some tokens.
template <class Format, class Unpacked, class Q8, size_t Elements, class Blocks>
struct PanelKernel {
  using Block = typename Format::Block;
  using Activations = Q8;
  using PanelBlock = Unpacked;
  static constexpr size_t kElements = Elements;
  static constexpr size_t kRows = avx512::kRows;
  static constexpr int kTokens = 8;

  template <int Tokens>
  static void tile(const PanelBlock* panel, size_t n_blocks, const Q8* const (&x)[Tokens],
                   float* const (&y)[Tokens], size_t n_rows, bool first) {
    const __mmask16 rows = first_rows(n_rows);
    __m512 total[Tokens];
    for (int t = 0; t < Tokens; ++t) total[t] = _mm512_maskz_loadu_ps(first ? 0 : rows, y[t]);
    for (size_t b = 0; b < n_blocks; ++b) Blocks::add_block(panel[b], x, b, total);
    for (int t = 0; t < Tokens; ++t) _mm512_mask_storeu_ps(y[t], rows, total[t]);
  }

  using Total = __m512;
  static void store(Total total, float* y, size_t n_rows) {
    _mm512_mask_storeu_ps(y, first_rows(n_rows), total);
  }
};

template <class Format>
struct BlockKernel : PanelKernel<Format, PanelBlock, Q8Block, size_t{kBlock}, BlockKernel<Format>> {
  static constexpr size_t kDirectTokens = 512;

  template <class Source>
  static void unpack(const Source& rows, PanelBlock& out) {
    Format::unpack(rows, out);
  }
  template <int Tokens, class Source>
  [[gnu::always_inline]] static inline void add(const Source& rows,
                                                const Q8Block* const (&x)[Tokens], size_t b,
                                                __m512 (&total)[Tokens]) {
    PanelBlock w;
    Format::unpack(rows, w);
    add_block(w, x, b, total);
  }
  template <int Tokens>
  [[gnu::always_inline]] static inline void add_block(const PanelBlock& w,
                                                      const Q8Block* const (&x)[Tokens], size_t b,
                                                      __m512 (&total)[Tokens]) {
    __m512i dot[Tokens][kChains<Tokens>];
    unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
      unroll<kChains<Tokens>>(
          [&](auto c) __attribute__((always_inline)) { dot[t][c] = _mm512_setzero_si512(); });
      if constexpr (Format::kOffsetBits > 0)
        dot[t][0] = _mm512_slli_epi32(_mm512_set1_epi32(x[t][b].negative_sum), Format::kOffsetBits);
    });
    unroll<kBlock / 4>([&](auto i) __attribute__((always_inline)) {
      unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
        add_products(w.codes[i], x[t][b].q + 4 * i, dot[t][i % kChains<Tokens>]);
      });
    });
    add_chains<Tokens>(dot);
    unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
      const __m512 scale = _mm512_mul_ps(w.scale, _mm512_set1_ps(x[t][b].scale));
      total[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[t][0]), scale, total[t]);
      if constexpr (Format::kHasMinimum)
        total[t] = _mm512_fmadd_ps(w.minimum, _mm512_set1_ps(x[t][b].sum), total[t]);
    });
  }
};

struct PanelSuperBlock {
  __m512i codes[kSuperBlock / 4];
  SuperBlockScales scales;
};

template <class Format>
struct SuperBlockKernel : PanelKernel<Format, PanelSuperBlock, Q8SuperBlock, size_t{kSuperBlock},
                                      SuperBlockKernel<Format>> {
  static constexpr size_t kDirectTokens = 64;

  template <class Source>
  static void unpack(const Source& rows, PanelSuperBlock& out) {
    Format::scales(rows, out.scales);
    Format::visit(rows, [&](int j, const __m512i(&codes)[8]) __attribute__((always_inline)) {
      for (int i = 0; i < 8; ++i) out.codes[8 * j + i] = codes[i];
    });
  }

  template <int Tokens, class Source>
  [[gnu::always_inline]] static inline void add(const Source& rows,
                                                const Q8SuperBlock* const (&x)[Tokens], size_t b,
                                                __m512 (&total)[Tokens]) {
    SuperBlockScales scales;
    Format::scales(rows, scales);
    __m512i sum[Tokens] = {};
    if constexpr (Format::kOffset == Offset::kCodes) add_offsets(scales, x, b, sum);
    Format::visit(rows, [&](int j, const __m512i(&codes)[8]) __attribute__((always_inline)) {
      unroll<8 / kQuads>([&](auto part) __attribute__((always_inline)) {
        const int first = 8 * j + kQuads * part;
        const int8_t* q[Tokens];
        for (int t = 0; t < Tokens; ++t) q[t] = x[t][b].q + 4 * first;
        add_sub_block(codes + kQuads * part, scales.of[first / kQuads], q, sum);
      });
    });
    finish_block(scales, x, b, sum, total);
  }

  template <int Tokens>
  [[gnu::always_inline]] static inline void add_block(const PanelSuperBlock& w,
                                                      const Q8SuperBlock* const (&x)[Tokens],
                                                      size_t b, __m512 (&total)[Tokens]) {
    __m512i sum[Tokens] = {};
    if constexpr (Format::kOffset == Offset::kCodes) add_offsets(w.scales, x, b, sum);
    for (int j = 0; j < kSuperBlock / Format::kSubBlock; ++j) {
      const int8_t* q[Tokens];
      for (int t = 0; t < Tokens; ++t) q[t] = x[t][b].q + Format::kSubBlock * j;
      add_sub_block(w.codes + j * kQuads, w.scales.of[j], q, sum);
    }
    finish_block(w.scales, x, b, sum, total);
  }

 private:
  static constexpr int kQuads = Format::kSubBlock / 4;

  template <int Tokens>
  [[gnu::always_inline]] static inline void add_sub_block(const __m512i* codes, __m512i scale,
                                                          const int8_t* const (&q)[Tokens],
                                                          __m512i (&sum)[Tokens]) {
    __m512i dot[Tokens][kChains<Tokens>];
    unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
      unroll<kChains<Tokens>>(
          [&](auto c) __attribute__((always_inline)) { dot[t][c] = _mm512_setzero_si512(); });
    });
    unroll<kQuads>([&](auto i) __attribute__((always_inline)) {
      unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
        add_products(codes[i], q[t] + 4 * i, dot[t][i % kChains<Tokens>]);
      });
    });
    add_chains<Tokens>(dot);
    unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
      sum[t] = _mm512_add_epi32(sum[t], _mm512_mullo_epi32(dot[t][0], scale));
    });
  }

  template <int Tokens>
  [[gnu::always_inline]] static inline void finish_block(const SuperBlockScales& w,
                                                         const Q8SuperBlock* const (&x)[Tokens],
                                                         size_t b, __m512i (&sum)[Tokens],
                                                         __m512 (&total)[Tokens]) {
    for (int t = 0; t < Tokens; ++t)
      total[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[t]),
                                 _mm512_mul_ps(w.scale, _mm512_set1_ps(x[t][b].scale)), total[t]);
    if constexpr (Format::kOffset == Offset::kMinima) {
      for (auto& lanes : sum) lanes = _mm512_setzero_si512();
      add_offsets(w, x, b, sum);
      for (int t = 0; t < Tokens; ++t)
        total[t] =
            _mm512_fnmadd_ps(_mm512_cvtepi32_ps(sum[t]),
                             _mm512_mul_ps(w.minimum, _mm512_set1_ps(x[t][b].scale)), total[t]);
    }
  }

  template <int Tokens>
  [[gnu::always_inline]] static inline void add_offsets(const SuperBlockScales& w,
                                                        const Q8SuperBlock* const (&x)[Tokens],
                                                        size_t b, __m512i (&sum)[Tokens]) {
    unroll<8>([&](auto i) __attribute__((always_inline)) {
      unroll<Tokens>([&](auto t) __attribute__((always_inline)) {
        sum[t] = _mm512_dpwssd_epi32(sum[t], w.offsets[i], broadcast_bytes(x[t][b].sums + 2 * i));
      });
    });
  }
};

LinearKernel* (*floats)(halogen_type) = nullptr;  // the kernels of AVX2

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
      return floats(type);
  }
}

}  // namespace

void add_linear_kernels(KernelSet& set) {
  floats = set.linear;
  set.linear = linear;
  set.panel_rows = kRows;
}

}  // namespace halogen::cpu::avx512
