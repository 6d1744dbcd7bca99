// The passes of row_math.h in terms of the compiler's vectors. Compiled once for each instruction
// set, in a namespace of its own, with HALOGEN_ROW_LANES floats to a vector: 4 or 8.
//
// Whatever the width of a vector, sums are those of eight lanes, lane i adding elements i, i + 8,
// ... So the bits of a result do not depend on the instruction set.
#include <bit>
#include <cstring>
#include <limits>

#include "row_math.h"

namespace sampler {
namespace {

constexpr size_t kWidth = HALOGEN_ROW_LANES;  // floats in a vector
constexpr size_t kLanes = 8;
constexpr size_t kRun = 4 * kLanes;  // elements between two branches, or two roundings to double
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Floats = float __attribute__((vector_size(kWidth * sizeof(float))));
using Integers = int32_t __attribute__((vector_size(kWidth * sizeof(int32_t))));

template <typename To, typename From>
inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline Floats load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

inline void store(float* to, Floats values) {
  std::memcpy(to, &values, sizeof values);
}

inline Floats all(float value) {
  return value - Floats{};
}

inline Floats choose(Integers flags, Floats yes, Floats no) {
  return same_bits<Floats>((same_bits<Integers>(yes) & flags) | (same_bits<Integers>(no) & ~flags));
}

inline bool any(Integers flags) {
  int64_t words[kWidth / 2];
  std::memcpy(words, &flags, sizeof words);
  int64_t joined = 0;
  for (const int64_t word : words) joined |= word;
  return joined != 0;
}

// Calls body(first, count) for runs of kRun elements and once for the rest.
template <typename Body>
inline void in_runs(size_t n, Body body) {
  size_t i = 0;
  for (; i + kRun <= n; i += kRun) body(i, kRun);
  if (i < n) body(i, n - i);
}

// A run of a row; where the row ends within it, the rest of it is `filler`.
struct Run {
  float values[kRun];
  Run(const float* from, size_t n, float filler) {
    if (n == kRun) {
      std::memcpy(values, from, sizeof values);
      return;
    }
    for (float& value : values) value = filler;
    std::memcpy(values, from, n * sizeof(float));
  }
};

// Sums of eight lanes, in double over the runs.
struct LaneSums {
  double lanes[kLanes] = {};
  void add(const float (&run)[kLanes]) {
    for (size_t i = 0; i < kLanes; i++) lanes[i] += static_cast<double>(run[i]);
  }
  double total() const {
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
           ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
  }
};

// Adds what `term(offset)` gives for each vector of a run to the lanes' sums.
template <typename Term>
inline void add_run(LaneSums& sums, Term term) {
  float run[kLanes];
  for (size_t part = 0; part < kLanes; part += kWidth) {
    Floats sum = term(part);
    for (size_t i = part + kLanes; i < kRun; i += kLanes) sum += term(i);
    store(run + part, sum);
  }
  sums.add(run);
}

// exp(x) for x <= 0: x = n ln 2 + r with |r| <= ln 2 / 2, the series of exp(r) to the seventh
// power (the next term is below 6e-9), and n added to the exponent.
inline Floats exponential(Floats x) {
  constexpr float kLeast = -87.0F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: added, it leaves the nearest integer
  constexpr float kLog2E = 1.44269504088896341F;
  constexpr float kLn2High = 0.693145751953125F;  // 16 bits, so that n * kLn2High is exact
  constexpr float kLn2Low = 1.42860682030941723e-6F;
  const Integers possible = x >= kLeast;
  const Floats bounded = choose(possible, x, all(kLeast));
  const Floats shifted = bounded * kLog2E + kRound;
  const Floats n = shifted - kRound;
  const Floats r = (bounded - n * kLn2High) - n * kLn2Low;
  Floats series = r * (1.0F / 5040) + (1.0F / 720);
  series = series * r + (1.0F / 120);
  series = series * r + (1.0F / 24);
  series = series * r + (1.0F / 6);
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  series = series * r + 1.0F;
  const Integers exponent = (same_bits<Integers>(shifted) - std::bit_cast<int32_t>(kRound)) << 23;
  return same_bits<Floats>((same_bits<Integers>(series) + exponent) & possible);
}

float clean(float* logits, size_t n) {
  Floats largest = all(-kInfinity);
  const auto pass = [&](float* values) {
    for (size_t i = 0; i < kRun; i += kWidth) {
      Floats x = load(values + i);
      // NOLINTNEXTLINE(misc-redundant-expression): false where x is no number
      x = choose(x == x, x, all(-kInfinity));
      x = choose(x < kInfinity, x, all(std::numeric_limits<float>::max()));
      largest = choose(x > largest, x, largest);
      store(values + i, x);
    }
  };
  in_runs(n, [&](size_t first, size_t count) {
    if (count == kRun) return pass(logits + first);
    Run rest(logits + first, count, -kInfinity);
    pass(rest.values);
    std::memcpy(logits + first, rest.values, count * sizeof(float));
  });
  float best = -kInfinity;
  for (size_t i = 0; i < kWidth; i++) best = largest[i] > best ? largest[i] : best;
  return best;
}

double weigh(const float* logits, size_t n, float largest, float inverse_temperature,
             float* weights) {
  LaneSums sums;
  const auto pass = [&](const float* from, float* to) {
    add_run(sums, [&](size_t i) {
      const Floats weight = exponential((load(from + i) - largest) * inverse_temperature);
      store(to + i, weight);
      return weight;
    });
  };
  in_runs(n, [&](size_t first, size_t count) {
    if (count == kRun) return pass(logits + first, weights + first);
    Run rest(logits + first, count, -kInfinity);
    pass(rest.values, rest.values);
    std::memcpy(weights + first, rest.values, count * sizeof(float));
  });
  return sums.total();
}

double moment(const float* logits, const float* weights, size_t n, float largest) {
  LaneSums sums;
  const auto pass = [&](const float* logit, const float* weight) {
    add_run(sums, [&](size_t i) {
      const Floats share = load(weight + i);
      // Nothing times minus infinity must stay nothing.
      return share * choose(share > 0.0F, load(logit + i) - largest, Floats{});
    });
  };
  in_runs(n, [&](size_t first, size_t count) {
    if (count == kRun) return pass(logits + first, weights + first);
    pass(Run(logits + first, count, 0).values, Run(weights + first, count, 0).values);
  });
  return sums.total();
}

RowMath::Spread spread(const float* logits, size_t n, float centre) {
  LaneSums sums, squares, counts;
  const auto pass = [&](const float* from) {
    const auto distance = [&](size_t i) {
      const Floats x = load(from + i);
      return choose(x > -kInfinity, x - centre, Floats{});
    };
    add_run(sums, distance);
    add_run(squares, [&](size_t i) { return distance(i) * distance(i); });
    add_run(counts,
            [&](size_t i) { return choose(load(from + i) > -kInfinity, all(1), Floats{}); });
  };
  in_runs(n, [&](size_t first, size_t count) {
    if (count == kRun) return pass(logits + first);
    pass(Run(logits + first, count, -kInfinity).values);
  });
  return {static_cast<size_t>(counts.total()), sums.total(), squares.total()};
}

// Where the comparison, of a value or of several at once, first holds.
template <typename Compare>
size_t find_first(const float* values, size_t from, size_t n, Compare compare) {
  size_t i = from;
  for (; i + kRun <= n; i += kRun) {
    Integers found{};
    for (size_t part = 0; part < kRun; part += kWidth) found |= compare(load(values + i + part));
    if (any(found)) break;
  }
  while (i < n && !compare(values[i])) i++;
  return i;
}

size_t find_above(const float* values, size_t from, size_t n, float bound) {
  return find_first(values, from, n, [bound](auto value) { return value > bound; });
}

size_t find_from(const float* values, size_t from, size_t n, float bound) {
  return find_first(values, from, n, [bound](auto value) { return value >= bound; });
}

size_t places_from(const float* values, size_t n, float bound, int32_t* places) {
  size_t count = 0;
  in_runs(n, [&](size_t first, size_t length) {
    if (length == kRun) {
      Integers enough{};
      for (size_t part = 0; part < kRun; part += kWidth)
        enough |= load(values + first + part) >= bound;
      if (!any(enough)) return;
    }
    for (size_t i = first; i < first + length; i++) {
      places[count] = static_cast<int32_t>(i);
      count += values[i] >= bound;
    }
  });
  return count;
}

constexpr RowMath passes(const char* name) {
  return {name, clean, weigh, moment, spread, find_above, find_from, places_from};
}

}  // namespace
}  // namespace sampler
