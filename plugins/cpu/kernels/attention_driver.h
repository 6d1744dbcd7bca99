// Attention over the paged cache, written once over the vectors of an instruction set.
//
// Both products, q . k and weights . v, are one small matrix product: rows times a panel of
// 2 * kLanes columns, whose sums are chains in ascending order. Few rows, as the heads of a group
// in a decode step, convert K and V as they multiply; for many, as in a prefill, a panel is
// converted once to F32. As every sum is a chain of its own, a row's bits do not depend on the rows
// beside it.
//
// Vector is a struct of the set's operations; see attention_portable.cpp for its members.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstring>

#include "plugins/cpu/kernels/attention_panels.h"
#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/kernels/scalar_math.h"
#include "plugins/cpu/kernels/unroll.h"

namespace halogen::cpu {
namespace {

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
    if (!stretch.empty()) fetch_first_keys(call, stretch);
    std::memset(call.out, 0, rows * attend_aligned(call.kv->value_dim) * sizeof(float));
    if (!stretch.empty()) {
      with_type(call.kv->key_type,
                [&]<template <class> class Stored>() { score<Stored<Vector>>(call, stretch); });
    }
    weigh_and_fetch_values(call, stretch);
    if (!stretch.empty()) {
      with_type(call.kv->value_type, [&]<template <class> class Stored>() {
        accumulate<Stored<Vector>>(call, stretch);
      });
    }
  }

 private:
  template <class Body>
  static void with_type(halogen_type type, Body body) {
    switch (type) {
      case HALOGEN_F32:
        return body.template operator()<F32Stored>();
      case HALOGEN_Q8_0:
        return body.template operator()<Q8Stored>();
      case HALOGEN_Q4_0:
        return body.template operator()<Q4Stored>();
      default:
        return body.template operator()<F16Stored>();
    }
  }

  // --- the product
  // ---------------------------------------------------------------------------------

  // c[r][0 .. kPanel) = (Add: c +) sum over i < k of a[r][i] * b[i][0 .. kPanel)
  template <int Rows, bool Add, class Source>
  static void multiply_rows(const float* a, size_t a_stride, const Source& b, size_t k, float* c,
                            size_t c_stride) {
    F sum[Rows][2];
    unroll<Rows>([&](auto r) HALOGEN_INLINE {
      sum[r][0] = Add ? Vector::load(c + r * c_stride) : Vector::zero();
      sum[r][1] = Add ? Vector::load(c + r * c_stride + kLanes) : Vector::zero();
    });
    for (size_t i = 0; i < k;) {
      const auto part = b.part(i);
      const size_t n = k - i < Source::kPart ? k - i : Source::kPart;
      for (size_t j = 0; j < n; j++, i++) {
        F left, right;
        part.load(j, left, right);
        unroll<Rows>([&](auto r) HALOGEN_INLINE {
          const F factor = Vector::broadcast(a + r * a_stride + i);
          sum[r][0] = Vector::multiply_add(factor, left, sum[r][0]);
          sum[r][1] = Vector::multiply_add(factor, right, sum[r][1]);
        });
      }
    }
    unroll<Rows>([&](auto r) HALOGEN_INLINE {
      Vector::store(c + r * c_stride, sum[r][0]);
      Vector::store(c + r * c_stride + kLanes, sum[r][1]);
    });
  }

  template <bool Add, class Source, int Rows = Vector::kRows>
  static void multiply_some(uint32_t rows, const float* a, size_t a_stride, const Source& b,
                            size_t k, float* c, size_t c_stride) {
    if constexpr (Rows > 0) {
      if (rows == Rows) return multiply_rows<Rows, Add>(a, a_stride, b, k, c, c_stride);
      multiply_some<Add, Source, Rows - 1>(rows, a, a_stride, b, k, c, c_stride);
    }
  }

  static uint32_t parts_of(uint32_t rows) { return (rows + Vector::kRows - 1) / Vector::kRows; }

  // Any number of rows, in parts that are as even as can be.
  template <bool Add, class Source>
  static void multiply(uint32_t rows, const float* a, size_t a_stride, const Source& b, size_t k,
                       float* c, size_t c_stride) {
    for (uint32_t parts = parts_of(rows); parts > 0; parts--) {
      const uint32_t n = (rows + parts - 1) / parts;
      multiply_some<Add>(n, a, a_stride, b, k, c, c_stride);
      rows -= n;
      a += n * a_stride;
      c += n * c_stride;
    }
  }

  // Whether each part of the rows converts K or V anew, rather than all read a converted panel.
  template <class Stored>
  static bool converts_as_it_goes(const AttendCall& call) {
    const uint32_t most = Stored::kBytes == 0 ? 1 : Vector::kPartsThatConvert;
    return parts_of(call.n_tokens * call.n_heads) <= most;
  }

  // panel[i] = row i of b
  template <class Source>
  static void pack(const Source& b, size_t k, float* panel) {
    for (size_t i = 0; i < k;) {
      const auto part = b.part(i);
      const size_t n = k - i < Source::kPart ? k - i : Source::kPart;
      for (size_t j = 0; j < n; j++, i++, panel += kPanel) {
        F left, right;
        part.load(j, left, right);
        Vector::store(panel, left);
        Vector::store(panel + kLanes, right);
      }
    }
  }

  // --- scores
  // --------------------------------------------------------------------------------------

  // The groups of the panel that begins at a position. One of which no token attends to a position
  // is the other one again, as its scores are not looked at.
  template <uint32_t Groups>
  static void find_groups(const GroupWalk& walk, const Stretch& stretch, uint32_t begin,
                          const uint8_t* (&groups)[Groups]) {
    const uint32_t first = begin / kKeyGroup * kKeyGroup;
    for (uint32_t g = 0; g < Groups; g++) {
      const uint32_t position = first + g * kKeyGroup;
      const bool seen = position < stretch.to && position + kKeyGroup > stretch.from;
      groups[g] = seen ? walk.at(position, g) : nullptr;
    }
    for (uint32_t g = 0; g < Groups; g++)
      if (!groups[g]) groups[g] = groups[Groups - 1 - g];
  }

  template <class Stored>
  static void score(const AttendCall& call, const Stretch& stretch) {
    const KvGeometry& kv = *call.kv;
    const uint32_t rows = call.n_tokens * call.n_heads;
    const GroupWalk walk(call, stretch);
    // The stretch may begin panels after its origin.
    uint32_t begin = stretch.from / kPanel * kPanel;
    KeyPanel<Vector, Stored> keys;
    find_groups(walk, stretch, begin, keys.next);
    for (; begin < stretch.to; begin += kPanel) {
      std::memcpy(keys.groups, keys.next, sizeof keys.groups);
      keys.lane = begin % kKeyGroup;
      const bool more = begin + kPanel < stretch.to;
      if (more && walk.in_place()) find_groups(walk, stretch, begin + kPanel, keys.next);
      float* scores = call.scores + (begin - stretch.origin);
      if (converts_as_it_goes<Stored>(call)) {
        multiply<false>(rows, call.q, kv.key_dim, keys, kv.key_dim, scores, call.score_stride);
      } else {
        pack(keys, kv.key_dim, call.panel);
        multiply<false>(rows, call.q, kv.key_dim, PackedPanel<Vector>{call.panel}, kv.key_dim,
                        scores, call.score_stride);
      }
      // Scratch is free only now.
      if (more && !walk.in_place()) find_groups(walk, stretch, begin + kPanel, keys.next);
    }
  }

  // Asks for K of the first panel.
  static void fetch_first_keys(const AttendCall& call, const Stretch& stretch) {
    const GroupWalk walk(call, stretch);
    if (!walk.in_place()) return;
    const uint32_t begin = stretch.from / kKeyGroup * kKeyGroup;
    for (uint32_t p = begin; p < begin + kPanel && p < stretch.to; p += kKeyGroup) {
      const uint8_t* group = walk.at(p, 0);
      for (size_t byte = 0; byte < kKeyGroup * call.kv->key_row_bytes; byte += kCacheLine)
        fetch(group + byte);
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

  // Turns all scores into weights, and asks for the first run of values meanwhile.
  static void weigh_and_fetch_values(const AttendCall& call, const Stretch& stretch) {
    const uint8_t* values[kAttendRun];
    const uint32_t n = stretch.empty() ? 0 : end_of_run(stretch, stretch.from) - stretch.from;
    RowWalk(call, stretch.from).next(n, values);
    const uint32_t rows = call.n_tokens * call.n_heads;
    for (uint32_t row = 0, at = 0; row < rows; row++) {
      for (; at * rows < (row + 1) * n; at++)
        for (size_t byte = 0; byte < call.kv->value_row_bytes; byte += kCacheLine)
          fetch(values[at] + byte);
      weigh(call, stretch, row);
    }
  }

  // --- values
  // --------------------------------------------------------------------------------------

  // panel[i][j] = element d + j of row i; zeros behind the row's end, which is within kPanel.
  template <class Stored>
  static void pack_last(const uint8_t* const* rows, uint32_t n, size_t d, size_t dim,
                        float* panel) {
    for (uint32_t half = 0; half < 2; half++, d += kLanes, panel += kLanes) {
      for (uint32_t i = 0; i < n; i++) {
        F value = Vector::zero();
        if constexpr (Stored::kBytes != 0)
          if (d < dim)
            value = load_some<Vector, Stored>(rows[i], d, dim - d < kLanes ? dim - d : kLanes);
        Vector::store(panel + i * kPanel, value);
      }
    }
  }

  // Where the run of a position ends.
  static uint32_t end_of_run(const Stretch& stretch, uint32_t position) {
    const uint32_t border = (position / kAttendRun + 1) * kAttendRun;
    return border < stretch.to ? border : stretch.to;
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

  // Adds one run's values to the columns of `values`. What only some tokens attend to is done for
  // one token at a time and never multiplied by zero: it may be infinite or not a number.
  template <class Source>
  static void accumulate_run(const AttendCall& call, const Stretch& stretch, const Run& run,
                             const Source& values, float* out, size_t out_stride) {
    const auto add = [&](uint32_t row, uint32_t rows, uint32_t begin, uint32_t end) {
      if (begin >= end) return;
      multiply<true>(rows, call.scores + row * call.score_stride + (begin - stretch.origin),
                     call.score_stride, values.part(begin - run.begin), end - begin,
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

  template <class Stored>
  static void accumulate(const AttendCall& call, const Stretch& stretch) {
    const KvGeometry& kv = *call.kv;
    const size_t out_stride = attend_aligned(kv.value_dim);
    RowWalk walk(call, stretch.from);
    const uint8_t* rows[2][kAttendRun];
    walk.next(end_of_run(stretch, stretch.from) - stretch.from, rows[0]);
    uint32_t turn = 0;
    for (uint32_t begin = stretch.from, end; begin < stretch.to; begin = end, turn ^= 1) {
      end = end_of_run(stretch, begin);
      const uint32_t n = end - begin;
      const uint32_t next = end < stretch.to ? end_of_run(stretch, end) - end : 0;
      walk.next(next, rows[turn ^ 1]);
      for (uint32_t i = next; i < n; i++) rows[turn ^ 1][i] = rows[turn][i];
      const Run run = run_at(call, begin, end);
      for (uint32_t d = 0; d < kv.value_dim; d += kPanel) {
        const ValuePanel<Vector, Stored> values = {rows[turn], rows[turn ^ 1], d,
                                                   d * kv.value_row_bytes / kv.value_dim};
        const bool whole = d + kPanel <= kv.value_dim;
        if (whole && converts_as_it_goes<Stored>(call)) {
          accumulate_run(call, stretch, run, values, call.out + d, out_stride);
          continue;
        }
        if (whole)
          pack(values, n, call.panel);
        else
          pack_last<Stored>(rows[turn], n, d, kv.value_dim, call.panel);
        accumulate_run(call, stretch, run, PackedPanel<Vector>{call.panel}, call.out + d,
                       out_stride);
      }
    }
  }
};

}  // namespace
}  // namespace halogen::cpu
