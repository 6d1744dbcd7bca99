// How exact an answer is demanded, and the rounding errors that follow from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace halogen::reference {

enum class Precision {
  f32,  // everything in 32 bits
  q8,   // the same, but products with quantised weights may round activations to 8 bits
  f16   // results may be held in 16 bits on their way
};

// Unit roundoffs: half the distance from 1 to the next number.
inline constexpr double kUnit32 = 0x1p-24;
inline constexpr double kUnit16 = 0x1p-11;

// Of a value that an operator stores.
constexpr double storage_unit(Precision precision) {
  return precision == Precision::f16 ? kUnit16 : kUnit32;
}

// The error of a sum of n products in 32 bits, relative to the sum of their magnitudes. The worst
// case grows like n; rounding errors of either sign make it sqrt(n), which seven standard
// deviations exceed about once in 10^12 sums (Higham and Mary 2019, "A new approach to
// probabilistic rounding error analysis").
inline double sum_error(size_t n) {
  const auto terms = static_cast<double>(n);
  return kUnit32 * std::min(terms + 2, 7 * std::sqrt(terms) + 8);
}

}  // namespace halogen::reference
