// Loops whose index is a constant: the compiler keeps an array that is indexed so in registers, and
// the index may be the operand of an instruction.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <type_traits>
#include <utility>

namespace halogen::cpu {
namespace {

// Calls f(0) ... f(N - 1), each with a constant of its own.
template <int N, class Function>
[[gnu::always_inline]] inline void unroll(Function&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>()), ...);
  }(std::make_integer_sequence<int, N>());
}

}  // namespace
}  // namespace halogen::cpu
