// Attention over the paged cache, written once over the vectors of an instruction set.
//
// Both products, q . k and weights . v, are one small matrix product: rows times a panel of
// 2 * kLanes columns, whose sums are chains in ascending order. K and V are brought into such
// panels as F32 (K transposed), once for all rows of the call: a decode step shares them between
// the heads of a group, a prefill between all tokens of its tile as well. As every sum is a chain
// of its own, a row's bits do not depend on the rows beside it.
//
// Vector is a struct of the set's operations; see attention_portable.cpp for its members.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstring>

#include "plugins/cpu/kernels/block_layouts.h"
#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/kernels/scalar_math.h"
#include "plugins/cpu/kernels/unroll.h"

namespace halogen::cpu {
namespace {

#define HALOGEN_INLINE __attribute__((always_inline))

// --- the stored types: kLanes elements of a row from element d on
// ---------------------------------

template <class Vector>
struct F32Rows {
  static typename Vector::F load(const uint8_t* row, size_t d) {
    return Vector::load(reinterpret_cast<const float*>(row) + d);
  }
  static constexpr size_t kBytes = 4;
};

template <class Vector>
struct F16Rows {
  static typename Vector::F load(const uint8_t* row, size_t d) {
    return Vector::load_f16(row + 2 * d);
  }
  static constexpr size_t kBytes = 2;
};

template <class Vector>
struct Q8Rows {
  static typename Vector::F load(const uint8_t* row, size_t d) {
    const auto& block = reinterpret_cast<const BlockQ8_0*>(row)[d / kBlock];
    return Vector::multiply(Vector::broadcast_f16(block.scale),
                            Vector::load_i8(block.q + d % kBlock));
  }
  static constexpr size_t kBytes = 0;  // whole blocks only
};

template <class Vector>
struct Q4Rows {
  static typename Vector::F load(const uint8_t* row, size_t d) {
    const auto& block = reinterpret_cast<const BlockQ4_0*>(row)[d / kBlock];
    const size_t at = d % kBlock;
    return Vector::multiply(Vector::broadcast_f16(block.scale),
                            Vector::load_nibbles(block.nibbles + at % 16, at >= 16));
  }
  static constexpr size_t kBytes = 0;
};

// The first n < kLanes elements, zeros after them.
template <class Vector, class Elements>
inline typename Vector::F load_some(const uint8_t* row, size_t d, size_t n) {
  alignas(64) uint8_t padded[Vector::kLanes * 4] = {};
  std::memcpy(padded, row + d * Elements::kBytes, n * Elements::kBytes);
  return Elements::load(padded, 0);
}

// The rows of K or V of consecutive positions, block after block.
class RowWalk {
 public:
  RowWalk(const AttendCall& call, const uint8_t* blocks, size_t block_bytes, size_t row_bytes,
          uint32_t position)
      : block_tokens_(call.kv->block_tokens),
        slot_(position % block_tokens_),
        block_bytes_(block_bytes),
        row_bytes_(row_bytes),
        head_(blocks + size_t{call.kv_head} * block_tokens_ * row_bytes),
        next_block_(call.block_table + position / block_tokens_),
        row_(nullptr) {}

  const uint8_t* next() {
    if (!row_ || slot_ == block_tokens_) {
      if (row_) slot_ = 0;
      row_ = head_ + *next_block_++ * block_bytes_ + slot_ * row_bytes_;
    }
    const uint8_t* row = row_;
    row_ += row_bytes_;
    slot_++;
    return row;
  }

  void next(uint32_t n, const uint8_t** rows) {
    for (uint32_t i = 0; i < n; i++) rows[i] = next();
  }

 private:
  uint32_t block_tokens_, slot_;
  size_t block_bytes_, row_bytes_;
  const uint8_t* head_;
  const uint32_t* next_block_;
  const uint8_t* row_;
};

// Asks the second cache for a row that is needed soon: the first one cannot take so many at once.
inline void fetch_row(const uint8_t* row, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at, 0, 2);
}

// The part of a call's stretch that any of its tokens attends to.
struct Stretch {
  uint32_t from, to;
  uint32_t origin;  // position of column 0 of the scores

  explicit Stretch(const AttendCall& call) : from(call.end), to(call.begin), origin(0) {
    for (uint32_t t = 0; t < call.n_tokens; t++) {
      from = call.first[t] < from ? call.first[t] : from;
      to = call.last[t] >= to ? call.last[t] + 1 : to;
    }
    from = from < call.begin ? call.begin : from;
    to = to > call.end ? call.end : to;
    origin = from / kAttendAlignment * kAttendAlignment;
  }
  bool empty() const { return from >= to; }
};

template <class Vector>
class Attention {
  using F = typename Vector::F;
  static constexpr uint32_t kLanes = Vector::kLanes;
  static constexpr uint32_t kPanel = 2 * kLanes;
  static_assert(kAttendAlignment % kPanel == 0);

 public:
  static void attend(const AttendCall& call) {
    const Stretch stretch(call);
    const uint32_t rows = call.n_tokens * call.n_heads;
    std::memset(call.out, 0, rows * attend_aligned(call.kv->value_dim) * sizeof(float));
    if (!stretch.empty()) {
      with_type(call.kv->key_type,
                [&]<template <class> class Rows>() { score<Rows<Vector>>(call, stretch); });
    }
    for (uint32_t row = 0; row < rows; row++) weigh(call, stretch, row);
    if (!stretch.empty()) {
      with_type(call.kv->value_type,
                [&]<template <class> class Rows>() { accumulate<Rows<Vector>>(call, stretch); });
    }
  }

 private:
  template <class Body>
  static void with_type(halogen_type type, Body body) {
    switch (type) {
      case HALOGEN_F32:
        return body.template operator()<F32Rows>();
      case HALOGEN_Q8_0:
        return body.template operator()<Q8Rows>();
      case HALOGEN_Q4_0:
        return body.template operator()<Q4Rows>();
      default:
        return body.template operator()<F16Rows>();
    }
  }

  // --- the product
  // ---------------------------------------------------------------------------------

  // c[r][0 .. kPanel) = (Add: c +) sum over i < k of a[r][i] * panel[i][0 .. kPanel)
  template <int Rows, bool Add>
  static void multiply_rows(const float* a, size_t a_stride, const float* panel, size_t k, float* c,
                            size_t c_stride) {
    F sum[Rows][2];
    unroll<Rows>([&](auto r) HALOGEN_INLINE {
      sum[r][0] = Add ? Vector::load(c + r * c_stride) : Vector::zero();
      sum[r][1] = Add ? Vector::load(c + r * c_stride + kLanes) : Vector::zero();
    });
    for (size_t i = 0; i < k; i++) {
      const F left = Vector::load(panel + i * kPanel);
      const F right = Vector::load(panel + i * kPanel + kLanes);
      unroll<Rows>([&](auto r) HALOGEN_INLINE {
        const F factor = Vector::broadcast(a + r * a_stride + i);
        sum[r][0] = Vector::multiply_add(factor, left, sum[r][0]);
        sum[r][1] = Vector::multiply_add(factor, right, sum[r][1]);
      });
    }
    unroll<Rows>([&](auto r) HALOGEN_INLINE {
      Vector::store(c + r * c_stride, sum[r][0]);
      Vector::store(c + r * c_stride + kLanes, sum[r][1]);
    });
  }

  template <bool Add, int Rows = Vector::kRows>
  static void multiply_some(uint32_t rows, const float* a, size_t a_stride, const float* panel,
                            size_t k, float* c, size_t c_stride) {
    if constexpr (Rows > 0) {
      if (rows == Rows) return multiply_rows<Rows, Add>(a, a_stride, panel, k, c, c_stride);
      multiply_some<Add, Rows - 1>(rows, a, a_stride, panel, k, c, c_stride);
    }
  }

  // Any number of rows, in parts that are as even as can be.
  template <bool Add>
  static void multiply(uint32_t rows, const float* a, size_t a_stride, const float* panel, size_t k,
                       float* c, size_t c_stride) {
    for (uint32_t parts = (rows + Vector::kRows - 1) / Vector::kRows; parts > 0; parts--) {
      const uint32_t n = (rows + parts - 1) / parts;
      multiply_some<Add>(n, a, a_stride, panel, k, c, c_stride);
      rows -= n;
      a += n * a_stride;
      c += n * c_stride;
    }
  }

  // --- scores
  // --------------------------------------------------------------------------------------

  // to[d + i][0 .. kLanes) = element d + i of each of kLanes rows, for i < n.
  template <class Load>
  static HALOGEN_INLINE void turn_block(const uint8_t* const* rows, size_t n, float* to,
                                        Load load) {
    F block[kLanes];
    unroll<kLanes>([&](auto i) HALOGEN_INLINE { block[i] = load(rows[i]); });
    Vector::transpose(block);
    if (n == kLanes) {
      unroll<kLanes>([&](auto i) HALOGEN_INLINE { Vector::store(to + i * kPanel, block[i]); });
    } else {
      for (size_t i = 0; i < n; i++) Vector::store(to + i * kPanel, block[i]);
    }
  }

  // panel[d][i] = element d of row i. Asks for the rows of the next panel meanwhile.
  template <class Elements>
  static void pack_keys(const uint8_t* const* rows, const uint8_t* const* next_rows,
                        size_t row_bytes, size_t dim, float* panel) {
    for (uint32_t half = 0; half < kPanel; half += kLanes) {
      for (uint32_t i = half; i < half + kLanes; i++) fetch_row(next_rows[i], row_bytes);
      const uint8_t* const* from = rows + half;
      float* to = panel + half;
      size_t d = 0;
      for (; d + kLanes <= dim; d += kLanes)
        turn_block(from, kLanes, to + d * kPanel,
                   [d](const uint8_t* row) HALOGEN_INLINE { return Elements::load(row, d); });
      if constexpr (Elements::kBytes != 0) {
        if (d == dim) continue;
        turn_block(from, dim - d, to + d * kPanel, [d, dim](const uint8_t* row) {
          return load_some<Vector, Elements>(row, d, dim - d);
        });
      }
    }
  }

  template <class Elements>
  static void score(const AttendCall& call, const Stretch& stretch) {
    const KvGeometry& kv = *call.kv;
    const uint32_t rows = call.n_tokens * call.n_heads;
    RowWalk walk(call, kv.keys, kv.key_block_bytes, kv.key_row_bytes, stretch.from);
    // The keys of a panel; places that no token attends to repeat another row, as their scores are
    // not looked at.
    const uint8_t* keys[2][kPanel];
    const auto find = [&](uint32_t begin, const uint8_t** to) {
      const uint32_t from = begin < stretch.from ? stretch.from : begin;
      const uint32_t end = begin + kPanel < stretch.to ? begin + kPanel : stretch.to;
      if (from >= end) return false;
      walk.next(end - from, to + (from - begin));
      for (uint32_t i = 0; i < from - begin; i++) to[i] = to[from - begin];
      for (uint32_t i = end - begin; i < kPanel; i++) to[i] = to[from - begin];
      return true;
    };
    uint32_t turn = 0;
    // The stretch may begin panels after its origin.
    uint32_t begin = stretch.from / kPanel * kPanel;
    find(begin, keys[0]);
    for (; begin < stretch.to; begin += kPanel, turn ^= 1) {
      const bool more = find(begin + kPanel, keys[turn ^ 1]);
      pack_keys<Elements>(keys[turn], keys[more ? turn ^ 1 : turn], kv.key_row_bytes, kv.key_dim,
                          call.panel);
      multiply<false>(rows, call.q, kv.key_dim, call.panel, kv.key_dim,
                      call.scores + (begin - stretch.origin), call.score_stride);
    }
  }

  // --- weights
  // -------------------------------------------------------------------------------------

  // e^x for x <= 0, with the polynomial of exp_of; zero below -87, so that no result is subnormal.
  static F weight_of(F x) {
    const F shifted =
        Vector::multiply_add(x, Vector::set(1.44269504f), Vector::set(kRoundingShift));
    const F n = Vector::subtract(shifted, Vector::set(kRoundingShift));
    F r = Vector::multiply_add(n, Vector::set(-0x1.62e4p-1f), x);
    r = Vector::multiply_add(n, Vector::set(-1.42860677e-6f), r);
    F p = Vector::set(0.0013933733571f);
    p = Vector::multiply_add(p, r, Vector::set(0.0083632357418f));
    p = Vector::multiply_add(p, r, Vector::set(0.0416664630175f));
    p = Vector::multiply_add(p, r, Vector::set(0.1666657626629f));
    p = Vector::multiply_add(p, r, Vector::set(0.5f));
    p = Vector::multiply_add(p, r, Vector::set(1.0f));
    p = Vector::multiply_add(p, r, Vector::set(1.0f));
    return Vector::zero_where_below(Vector::multiply(p, Vector::power_of_two(shifted)), x,
                                    Vector::set(-87.0f));
  }

  // Turns a row's scores into weights.
  static void weigh(const AttendCall& call, const Stretch& stretch, uint32_t row) {
    const uint32_t token = row / call.n_heads;
    const uint32_t from = call.first[token] > stretch.from ? call.first[token] : stretch.from;
    const uint32_t to = call.last[token] < stretch.to ? call.last[token] + 1 : stretch.to;
    call.largest[row] = -__builtin_inff();
    call.sum[row] = 0.0f;
    if (from >= to) return;
    // Lanes go by position, so that they do not depend on where the stretch begins.
    float* scores = call.scores + row * call.score_stride;
    const uint32_t begin = (from - stretch.origin) / kPanel * kPanel;
    const uint32_t end = (to - stretch.origin + kPanel - 1) / kPanel * kPanel;
    for (uint32_t i = begin; i < from - stretch.origin; i++) scores[i] = -__builtin_inff();
    for (uint32_t i = to - stretch.origin; i < end; i++) scores[i] = -__builtin_inff();
    if (call.softcap != 0.0f)
      for (uint32_t i = begin; i < end; i++)
        if (scores[i] > -__builtin_inff())
          scores[i] = call.softcap * tanh_of(scores[i] / call.softcap);

    F most[2] = {Vector::load(scores + begin), Vector::load(scores + begin + kLanes)};
    for (uint32_t i = begin + kPanel; i < end; i += kPanel)
      for (uint32_t v = 0; v < 2; v++)
        most[v] = Vector::maximum(most[v], Vector::load(scores + i + v * kLanes));
    const float largest = Vector::largest_lane(Vector::maximum(most[0], most[1]));
    const F shift = Vector::set(largest);
    F sum[2] = {Vector::zero(), Vector::zero()};
    for (uint32_t i = begin; i < end; i += kPanel)
      for (uint32_t v = 0; v < 2; v++) {
        float* at = scores + i + v * kLanes;
        const F weight = weight_of(Vector::subtract(Vector::load(at), shift));
        Vector::store(at, weight);
        sum[v] = Vector::add(sum[v], weight);
      }
    call.largest[row] = largest;
    call.sum[row] = Vector::sum_lanes(Vector::add(sum[0], sum[1]));
  }

  // --- values
  // --------------------------------------------------------------------------------------

  // panel[i][j] = element d + j of row i; zeros behind the row's end.
  template <class Elements>
  static void pack_values(const uint8_t* const* rows, uint32_t n, size_t d, size_t dim,
                          float* panel) {
    for (uint32_t half = 0; half < 2; half++, d += kLanes, panel += kLanes) {
      if (d + kLanes <= dim) {
        for (uint32_t i = 0; i < n; i++)
          Vector::store(panel + i * kPanel, Elements::load(rows[i], d));
      } else if (Elements::kBytes != 0 && d < dim) {
        for (uint32_t i = 0; i < n; i++)
          Vector::store(panel + i * kPanel, load_some<Vector, Elements>(rows[i], d, dim - d));
      } else {
        for (uint32_t i = 0; i < n; i++) Vector::store(panel + i * kPanel, Vector::zero());
      }
    }
  }

  // The positions of a run, and those that all tokens attend to.
  struct Run {
    uint32_t begin, end;
    uint32_t common_begin, common_end;
  };
  static Run run_at(const AttendCall& call, uint32_t begin, uint32_t end) {
    Run run = {begin, end, begin, end};
    for (uint32_t t = 0; t < call.n_tokens; t++) {
      const uint32_t token_end = call.last[t] + 1;
      run.common_begin = call.first[t] > run.common_begin ? call.first[t] : run.common_begin;
      run.common_end = token_end < run.common_end ? token_end : run.common_end;
    }
    if (run.common_begin > run.common_end) run.common_begin = run.common_end = end;
    return run;
  }

  // Adds one run's values to the columns of `panel`. What only some tokens attend to is done for
  // one token at a time and never multiplied by zero: it may be infinite or not a number.
  static void accumulate_run(const AttendCall& call, const Stretch& stretch, const Run& run,
                             float* out, size_t out_stride) {
    const auto add = [&](uint32_t row, uint32_t rows, uint32_t begin, uint32_t end) {
      if (begin >= end) return;
      multiply<true>(rows, call.scores + row * call.score_stride + (begin - stretch.origin),
                     call.score_stride, call.panel + (begin - run.begin) * kPanel, end - begin,
                     out + row * out_stride, out_stride);
    };
    const auto add_of_tokens = [&](uint32_t begin, uint32_t end) {
      for (uint32_t t = 0; begin < end && t < call.n_tokens; t++) {
        const uint32_t token_end = call.last[t] + 1;
        add(t * call.n_heads, call.n_heads, call.first[t] > begin ? call.first[t] : begin,
            token_end < end ? token_end : end);
      }
    };
    add_of_tokens(run.begin, run.common_begin);
    add(0, call.n_tokens * call.n_heads, run.common_begin, run.common_end);
    add_of_tokens(run.common_end, run.end);
  }

  // The same for one token and as many heads as a product takes at a time: V is read as it lies.
  template <class Elements, int Rows = Vector::kRows>
  static void accumulate_once(uint32_t heads, const float* weights, size_t stride,
                              const uint8_t* const* values, uint32_t n, size_t d, float* out,
                              size_t out_stride) {
    if constexpr (Rows > 0) {
      if (heads != Rows) {
        return accumulate_once<Elements, Rows - 1>(heads, weights, stride, values, n, d, out,
                                                   out_stride);
      }
      F sum[Rows][2];
      unroll<Rows>([&](auto r) HALOGEN_INLINE {
        sum[r][0] = Vector::load(out + r * out_stride);
        sum[r][1] = Vector::load(out + r * out_stride + kLanes);
      });
      for (uint32_t i = 0; i < n; i++) {
        const F left = Elements::load(values[i], d);
        const F right = Elements::load(values[i], d + kLanes);
        unroll<Rows>([&](auto r) HALOGEN_INLINE {
          const F factor = Vector::broadcast(weights + r * stride + i);
          sum[r][0] = Vector::multiply_add(factor, left, sum[r][0]);
          sum[r][1] = Vector::multiply_add(factor, right, sum[r][1]);
        });
      }
      unroll<Rows>([&](auto r) HALOGEN_INLINE {
        Vector::store(out + r * out_stride, sum[r][0]);
        Vector::store(out + r * out_stride + kLanes, sum[r][1]);
      });
    }
  }

  template <class Elements>
  static void accumulate(const AttendCall& call, const Stretch& stretch) {
    const KvGeometry& kv = *call.kv;
    const size_t out_stride = attend_aligned(kv.value_dim);
    RowWalk walk(call, kv.values, kv.value_block_bytes, kv.value_row_bytes, stretch.from);
    const uint8_t* values[2][kAttendRun];
    const auto end_of = [&](uint32_t begin) {
      const uint32_t border = (begin / kAttendRun + 1) * kAttendRun;
      return border < stretch.to ? border : stretch.to;
    };
    walk.next(end_of(stretch.from) - stretch.from, values[0]);
    const bool one_token = call.n_tokens == 1 && call.n_heads <= Vector::kRows;
    uint32_t turn = 0;
    for (uint32_t begin = stretch.from, end; begin < stretch.to; begin = end, turn ^= 1) {
      end = end_of(begin);
      const uint32_t next = end < stretch.to ? end_of(end) - end : 0;
      walk.next(next, values[turn ^ 1]);
      const Run run = run_at(call, begin, end);
      for (uint32_t d = 0; d < kv.value_dim; d += kPanel) {
        if (d == 0)
          for (uint32_t i = 0; i < next; i++) fetch_row(values[turn ^ 1][i], kv.value_row_bytes);
        if (one_token && d + kPanel <= kv.value_dim) {
          accumulate_once<Elements>(call.n_heads, call.scores + (begin - stretch.origin),
                                    call.score_stride, values[turn], end - begin, d, call.out + d,
                                    out_stride);
          continue;
        }
        pack_values<Elements>(values[turn], end - begin, d, kv.value_dim, call.panel);
        accumulate_run(call, stretch, run, call.out + d, out_stride);
      }
    }
  }
};

}  // namespace
}  // namespace halogen::cpu
