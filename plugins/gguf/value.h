// A metadata value of a GGUF file: one scalar, one string, or a flat array, stored contiguously.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halogen::gguf {

// The numbers are the format's.
enum class ValueType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12
};

// Bytes of one element; 0 for strings and arrays, whose elements differ in length.
size_t value_type_bytes(ValueType type);

// "u32", "string", "array"; "unknown" for a number that is none of the above.
const char* value_type_name(ValueType type);

bool is_value_type(uint32_t number);

// A scalar is stored like an array of one, so that both are read the same way.
struct Value {
  ValueType type = ValueType::u8;  // of the scalar, or of each element
  bool is_array = false;
  uint64_t count = 0;             // elements; 1 for a scalar
  std::vector<std::byte> bytes;   // the elements one after the other, aligned for their type
  std::vector<uint64_t> offsets;  // strings only: element i is bytes offsets[i] .. offsets[i + 1]

  static Value of(uint64_t number);
  static Value of(int64_t number);
  static Value of(double number);
  static Value of(bool flag);
  static Value of(std::string_view text);
  static Value of(std::span<const uint64_t> numbers);

  // "u32", "array of 512 strings": for messages.
  std::string description() const;

  bool is_scalar(ValueType wanted) const { return !is_array && type == wanted; }
  bool is_array_of(ValueType wanted) const { return is_array && type == wanted; }

  // Element `index` as a number, whatever its width. Empty where the element has another kind: a
  // real number is no integer, a negative one has no unsigned form, a bool is no number.
  std::optional<uint64_t> unsigned_at(uint64_t index) const;
  std::optional<int64_t> signed_at(uint64_t index) const;
  std::optional<double> real_at(uint64_t index) const;  // integers too

  // Element `index` of strings (a scalar's is 0). Borrowed from this value.
  std::string_view text_at(uint64_t index) const;
};

struct KeyValue {
  std::string key;
  Value value;
};

// The value of `key`, or null.
const Value* find_value(const std::vector<KeyValue>& metadata, std::string_view key);

}  // namespace halogen::gguf
