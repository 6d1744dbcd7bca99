// Linear kernels for AVX2, FMA and F16C: 8-bit integer products, summed in integers as far as one
// scale reaches (32 elements, or 256 for the superblock formats) and in eight F32 lanes beyond.
#include <utility>

#include "plugins/cpu/kernels/avx2_floats.h"
#include "plugins/cpu/kernels/avx2_formats.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::avx2 {
namespace {

// The unsigned operand of maddubs, made once per weight block.
template <class Format>
inline __m256i magnitudes(__m256i quants) {
  return Format::kSigned ? _mm256_abs_epi8(quants) : quants;
}

// Products of 32 bytes, neighbours added: 16 sums of 16 bits.
template <class Format>
inline __m256i multiply(__m256i magnitude, __m256i quants, __m256i activations) {
  return _mm256_maddubs_epi16(
      magnitude, Format::kSigned ? _mm256_sign_epi8(activations, quants) : activations);
}

// Blocks with even and odd numbers have an accumulator each, because one alone would wait for its
// own latency: a block every four cycles.
template <class Format>
struct BlockKernel {
  static constexpr int kRows = 1;
  static constexpr int kRowsOfOneToken = 1;

  template <int Rows, int Tokens>
  static void tile(const LinearCall& call, size_t row, const uint8_t* const (&x)[Tokens],
                   float* const (&y)[Tokens]) {
    static_assert(Rows == 1);
    const auto* blocks = reinterpret_cast<const typename Format::Block*>(weight_row(call, row));
    const Q8Block* activations[Tokens];
    for (int t = 0; t < Tokens; ++t) activations[t] = reinterpret_cast<const Q8Block*>(x[t]);
    __m256 even[Tokens];
    __m256 odd[Tokens];
    for (int t = 0; t < Tokens; ++t) even[t] = odd[t] = _mm256_setzero_ps();

    const size_t n_blocks = call.k / kBlock;
    size_t b = 0;
    for (; b + 2 <= n_blocks; b += 2) {
      add_block(blocks[b], activations, b, even, odd);
      add_block(blocks[b + 1], activations, b + 1, odd, even);
    }
    if (b < n_blocks) add_block(blocks[b], activations, b, even, odd);
    for (int t = 0; t < Tokens; ++t) y[t][row] = sum_lanes(_mm256_add_ps(even[t], odd[t]));
  }

 private:
  template <int Tokens>
  static inline void add_block(const typename Format::Block& block,
                               const Q8Block* const (&activations)[Tokens], size_t b,
                               __m256 (&products)[Tokens], __m256 (&minima)[Tokens]) {
    const __m256i quants = Format::quants(block);
    const __m256i magnitude = magnitudes<Format>(quants);
    const __m256 scale = Format::scale(block);
    for (int t = 0; t < Tokens; ++t) {
      const Q8Block& a = activations[t][b];
      const __m256i dot = _mm256_madd_epi16(multiply<Format>(magnitude, quants, load_bytes(a.q)),
                                            _mm256_set1_epi16(1));
      products[t] =
          _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot),
                          _mm256_mul_ps(scale, _mm256_broadcast_ss(&a.scale)), products[t]);
      if constexpr (Format::kHasMinimum) {
        const __m256 sum = _mm256_zextps128_ps256(_mm_load_ss(&a.sum));
        minima[t] = _mm256_fmadd_ps(Format::minimum(block), sum, minima[t]);
      }
    }
  }
};

template <class Format>
struct SuperBlockKernel {
  static constexpr int kRows = 2;
  static constexpr int kRowsOfOneToken = 1;

  template <int Rows, int Tokens>
  static void tile(const LinearCall& call, size_t row, const uint8_t* const (&x)[Tokens],
                   float* const (&y)[Tokens]) {
    using Block = typename Format::Block;
    const Block* blocks[Rows];
    for (int r = 0; r < Rows; ++r)
      blocks[r] = reinterpret_cast<const Block*>(weight_row(call, row + r));
    const Q8SuperBlock* activations[Tokens];
    for (int t = 0; t < Tokens; ++t) activations[t] = reinterpret_cast<const Q8SuperBlock*>(x[t]);
    __m256 total[Rows][Tokens];
    for (auto& of_row : total)
      for (auto& sum : of_row) sum = _mm256_setzero_ps();

    for (size_t b = 0; b < call.k / kSuperBlock; ++b)
      for (int r = 0; r < Rows; ++r) add_block(blocks[r][b], activations, b, total[r]);

    for (int t = 0; t < Tokens; ++t)
      for (int r = 0; r < Rows; ++r) y[t][row + r] = sum_lanes(total[r][t]);
  }

 private:
  template <int Tokens>
  static inline void add_block(const typename Format::Block& block,
                               const Q8SuperBlock* const (&activations)[Tokens], size_t b,
                               __m256 (&total)[Tokens]) {
    const PreparedScales prepared = Format::prepare(block);
    __m256i dot[Tokens];
    for (auto& sum : dot) sum = _mm256_setzero_si256();
    [&]<int... Chunk>(std::integer_sequence<int, Chunk...>) __attribute__((always_inline)) {
      (add_chunk<Chunk>(block, prepared, activations, b, dot), ...);
    }(std::make_integer_sequence<int, 8>());

    const __m256 scale = broadcast_f16(block.scale);
    for (int t = 0; t < Tokens; ++t) {
      const Q8SuperBlock& a = activations[t][b];
      const __m256 activation_scale = _mm256_broadcast_ss(&a.scale);
      __m256i offset = _mm256_setzero_si256();
      if constexpr (Format::kOffset != Offset::kNone)
        offset = _mm256_madd_epi16(prepared.offsets, load_bytes(a.sums));
      if constexpr (Format::kOffset == Offset::kCodes) dot[t] = _mm256_sub_epi32(dot[t], offset);
      total[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot[t]), _mm256_mul_ps(scale, activation_scale),
                                 total[t]);
      if constexpr (Format::kOffset == Offset::kMinima)
        total[t] = _mm256_fnmadd_ps(_mm256_cvtepi32_ps(offset),
                                    _mm256_mul_ps(broadcast_f16(block.minimum), activation_scale),
                                    total[t]);
    }
  }

  template <int Chunk, int Tokens>
  static inline __attribute__((always_inline)) void add_chunk(
      const typename Format::Block& block, const PreparedScales& prepared,
      const Q8SuperBlock* const (&activations)[Tokens], size_t b, __m256i (&dot)[Tokens]) {
    const __m256i quants = Format::template quants<Chunk>(block);
    const __m256i magnitude = magnitudes<Format>(quants);
    const __m256i scales = scales_of<Chunk>(prepared);
    for (int t = 0; t < Tokens; ++t) {
      const __m256i products =
          multiply<Format>(magnitude, quants, load_bytes(activations[t][b].q + 32 * Chunk));
      dot[t] = _mm256_add_epi32(dot[t], _mm256_madd_epi16(products, scales));
    }
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
    case HALOGEN_Q4_0:
      return &run_linear<BlockKernel<Q4_0>>;
    case HALOGEN_Q4_1:
      return &run_linear<BlockKernel<Q4_1>>;
    case HALOGEN_Q5_0:
      return &run_linear<BlockKernel<Q5_0>>;
    case HALOGEN_Q5_1:
      return &run_linear<BlockKernel<Q5_1>>;
    case HALOGEN_Q8_0:
      return &run_linear<BlockKernel<Q8_0>>;
    case HALOGEN_IQ4_NL:
      return &run_linear<BlockKernel<IQ4_NL>>;
    case HALOGEN_MXFP4:
      return &run_linear<BlockKernel<MXFP4>>;
    case HALOGEN_Q2_K:
      return &run_linear<SuperBlockKernel<Q2_K>>;
    case HALOGEN_Q3_K:
      return &run_linear<SuperBlockKernel<Q3_K>>;
    case HALOGEN_Q4_K:
      return &run_linear<SuperBlockKernel<Q4_K>>;
    case HALOGEN_Q5_K:
      return &run_linear<SuperBlockKernel<Q5_K>>;
    case HALOGEN_Q6_K:
      return &run_linear<SuperBlockKernel<Q6_K>>;
    case HALOGEN_IQ4_XS:
      return &run_linear<SuperBlockKernel<IQ4_XS>>;
    default:
      return nullptr;
  }
}

}  // namespace

void add_linear_kernels(KernelSet& set) {
  set.linear = linear;
}

}  // namespace halogen::cpu::avx2
