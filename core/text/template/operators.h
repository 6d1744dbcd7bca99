// What operators do with values, by Python's rules. Every function throws Failure where Python
// would raise: on operands that do not go together, on undefined ones, and on integers beyond 64
// bits.
#pragma once

#include <cstdint>
#include <optional>

#include "core/text/template/value.h"

namespace halogen::jinja {

enum class BinaryOperator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power
};

enum class ComparisonOperator : std::uint8_t {
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
};

bool truthy(const Value& value);
bool equal(Heap& heap, const Value& left, const Value& right);
bool compare(Heap& heap, ComparisonOperator operation, const Value& left, const Value& right);
bool contains(Heap& heap, const Value& container, const Value& item);

Value arithmetic(Heap& heap, BinaryOperator operation, const Value& left, const Value& right);
Value negate(const Value& operand);

// The number of items, or absent for a value that has no length. Strings count code points.
std::optional<std::int64_t> size_of(const Value& value);

// All items of an iterable; takes them out of an iterator. Throws Failure for what is not iterable.
std::vector<Value> items_of(Heap& heap, const Value& iterable);
bool is_iterable(const Value& value);

// object[index] for sequences, strings and ranges; absent when out of range.
std::optional<Value> item_at(Heap& heap, const Value& sequence, std::int64_t index);

// object[start:stop:step]; absent when the object has no slices.
std::optional<Value> slice(Heap& heap, const Value& object, std::optional<std::int64_t> start,
                           std::optional<std::int64_t> stop, std::int64_t step);

}  // namespace halogen::jinja
