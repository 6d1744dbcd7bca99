#include "plugins/gguf/value_reader.h"

#include <algorithm>

#include "plugins/gguf/text.h"

namespace halogen::gguf {
namespace {

constexpr int kMaxArrayDepth = 8;

bool read_value_type(ByteCursor& cursor, ValueType& type, Failure& failure) {
  uint32_t number = 0;
  if (!cursor.number(number, failure)) return failure.within("value type");
  if (!is_value_type(number)) {
    return failure.set(HALOGEN_E_INVALID, concat("unknown value type ", number));
  }
  type = static_cast<ValueType>(number);
  return true;
}

// Appends the next string to `value`.
bool append_string(ByteCursor& cursor, Value& value, Failure& failure) {
  uint64_t length = 0;
  if (!cursor.number(length, failure)) return failure.within("string length");
  if (!cursor.expect(length, failure)) return failure.within("string");
  const size_t begin = value.bytes.size();
  value.bytes.resize(begin + length);
  if (!cursor.read(value.bytes.data() + begin, length, failure)) return failure.within("string");
  value.offsets.push_back(value.bytes.size());
  return true;
}

bool read_strings(ByteCursor& cursor, Value& value, Failure& failure) {
  // An empty string takes the 8 bytes of its length.
  if (!cursor.expect_many(value.count, 8, "strings", failure)) return false;
  // Growing by copies is what costs time in a vocabulary of 150,000 tokens. Its reservation is
  // bounded, because the count may still be false.
  constexpr uint64_t kMaxReserved = uint64_t{8} << 20;
  constexpr uint64_t kUsualBytes = 16;  // a token or a merge takes 6 to 12
  value.offsets.reserve(std::min(value.count + 1, kMaxReserved / sizeof(uint64_t)));
  value.bytes.reserve(std::min({value.count * kUsualBytes, cursor.remaining(), kMaxReserved}));
  value.offsets.push_back(0);
  for (uint64_t i = 0; i < value.count; i++) {
    if (append_string(cursor, value, failure)) continue;
    if (value.is_array) failure.within(concat("element ", i));
    return false;
  }
  return true;
}

bool read_numbers(ByteCursor& cursor, Value& value, Failure& failure) {
  const uint64_t element_bytes = value_type_bytes(value.type);
  if (!cursor.expect_many(value.count, element_bytes, "elements", failure)) return false;
  value.bytes.resize(value.count * element_bytes);
  if (!cursor.read(value.bytes.data(), value.bytes.size(), failure)) return false;
  if (value.type != ValueType::boolean) return true;
  for (uint64_t i = 0; i < value.count; i++) {
    const auto byte = static_cast<unsigned>(value.bytes[i]);
    if (byte > 1) {
      return failure.set(HALOGEN_E_INVALID, concat("a bool stored as ", byte, ", not 0 or 1"));
    }
  }
  return true;
}

bool step_over_arrays(ByteCursor& cursor, uint64_t count, int depth, Failure& failure);

bool read_elements(ByteCursor& cursor, Value& value, int depth, Failure& failure) {
  switch (value.type) {
    case ValueType::string:
      return read_strings(cursor, value, failure);
    case ValueType::array:
      return step_over_arrays(cursor, value.count, depth + 1, failure);
    default:
      return read_numbers(cursor, value, failure);
  }
}

bool read_array(ByteCursor& cursor, Value& value, int depth, Failure& failure) {
  value.is_array = true;
  if (!read_value_type(cursor, value.type, failure)) return failure.within("array element");
  if (!cursor.number(value.count, failure)) return failure.within("array count");
  return read_elements(cursor, value, depth, failure);
}

bool step_over_arrays(ByteCursor& cursor, uint64_t count, int depth, Failure& failure) {
  if (depth >= kMaxArrayDepth) {
    return failure.set(HALOGEN_E_INVALID,
                       concat("arrays nested more than ", kMaxArrayDepth, " deep"));
  }
  if (!cursor.expect_many(count, 12, "arrays", failure)) return false;
  for (uint64_t i = 0; i < count; i++) {
    Value inner;
    if (!read_array(cursor, inner, depth, failure)) return false;
  }
  return true;
}

}  // namespace

bool read_value(ByteCursor& cursor, Value& value, Failure& failure) {
  if (!read_value_type(cursor, value.type, failure)) return false;
  if (value.type == ValueType::array) return read_array(cursor, value, 0, failure);
  value.count = 1;
  return read_elements(cursor, value, 0, failure);
}

bool read_string(ByteCursor& cursor, uint64_t most_bytes, std::string& text, Failure& failure) {
  uint64_t length = 0;
  if (!cursor.number(length, failure)) return failure.within("length");
  if (length > most_bytes) {
    return failure.set(HALOGEN_E_INVALID,
                       concat(length, " bytes long at byte ", cursor.position(), ", at most ",
                              most_bytes, " are allowed; the file is damaged"));
  }
  if (!cursor.expect(length, failure)) return false;
  text.resize(length);
  return cursor.read(text.data(), length, failure);
}

}  // namespace halogen::gguf
