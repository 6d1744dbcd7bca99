#include "plugins/gguf/value.h"

#include <cstring>
#include <limits>

#include "plugins/gguf/text.h"

namespace halogen::gguf {
namespace {

struct TypeTraits {
  const char* name;
  size_t bytes;
};

constexpr TypeTraits kTypes[] = {{"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
                                 {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 0}, {"array", 0},
                                 {"u64", 8}, {"i64", 8}, {"f64", 8}};

template <typename T>
T element(const Value& value, uint64_t index) {
  T number;
  std::memcpy(&number, value.bytes.data() + index * sizeof number, sizeof number);
  return number;
}

template <typename T>
Value scalar(ValueType type, T number) {
  Value value;
  value.type = type;
  value.count = 1;
  value.bytes.resize(sizeof number);
  std::memcpy(value.bytes.data(), &number, sizeof number);
  return value;
}

// An element of an integer type as sign and magnitude, the only form that holds both u64 and i64.
struct Integer {
  bool negative;
  uint64_t magnitude;
};

Integer from_signed(int64_t number) {
  return {number < 0,
          number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number)};
}

std::optional<Integer> integer_at(const Value& value, uint64_t index) {
  if (index >= value.count) return std::nullopt;
  switch (value.type) {
    case ValueType::u8:
      return Integer{false, element<uint8_t>(value, index)};
    case ValueType::u16:
      return Integer{false, element<uint16_t>(value, index)};
    case ValueType::u32:
      return Integer{false, element<uint32_t>(value, index)};
    case ValueType::u64:
      return Integer{false, element<uint64_t>(value, index)};
    case ValueType::i8:
      return from_signed(element<int8_t>(value, index));
    case ValueType::i16:
      return from_signed(element<int16_t>(value, index));
    case ValueType::i32:
      return from_signed(element<int32_t>(value, index));
    case ValueType::i64:
      return from_signed(element<int64_t>(value, index));
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_value_type(uint32_t number) {
  return number < std::size(kTypes);
}

size_t value_type_bytes(ValueType type) {
  const auto number = static_cast<uint32_t>(type);
  return is_value_type(number) ? kTypes[number].bytes : 0;
}

const char* value_type_name(ValueType type) {
  const auto number = static_cast<uint32_t>(type);
  return is_value_type(number) ? kTypes[number].name : "unknown";
}

Value Value::of(uint64_t number) {
  return scalar(ValueType::u64, number);
}
Value Value::of(int64_t number) {
  return scalar(ValueType::i64, number);
}
Value Value::of(double number) {
  return scalar(ValueType::f64, number);
}
Value Value::of(bool flag) {
  return scalar(ValueType::boolean, static_cast<uint8_t>(flag));
}

Value Value::of(std::string_view text) {
  Value value;
  value.type = ValueType::string;
  value.count = 1;
  value.bytes.resize(text.size());
  if (!text.empty()) std::memcpy(value.bytes.data(), text.data(), text.size());
  value.offsets = {0, text.size()};
  return value;
}

Value Value::of(std::span<const uint64_t> numbers) {
  Value value;
  value.type = ValueType::u64;
  value.is_array = true;
  value.count = numbers.size();
  value.bytes.resize(numbers.size_bytes());
  if (!numbers.empty()) std::memcpy(value.bytes.data(), numbers.data(), numbers.size_bytes());
  return value;
}

std::string Value::description() const {
  if (!is_array) return value_type_name(type);
  return concat("array of ", count, " ", value_type_name(type), count == 1 ? "" : "s");
}

std::optional<uint64_t> Value::unsigned_at(uint64_t index) const {
  const std::optional<Integer> integer = integer_at(*this, index);
  if (!integer || integer->negative) return std::nullopt;
  return integer->magnitude;
}

std::optional<int64_t> Value::signed_at(uint64_t index) const {
  const std::optional<Integer> integer = integer_at(*this, index);
  if (!integer) return std::nullopt;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (integer->magnitude > kMax + (integer->negative ? 1 : 0)) return std::nullopt;
  return static_cast<int64_t>(integer->negative ? uint64_t{0} - integer->magnitude
                                                : integer->magnitude);
}

std::optional<double> Value::real_at(uint64_t index) const {
  if (index >= count) return std::nullopt;
  if (type == ValueType::f32) return element<float>(*this, index);
  if (type == ValueType::f64) return element<double>(*this, index);
  const std::optional<Integer> integer = integer_at(*this, index);
  if (!integer) return std::nullopt;
  const auto magnitude = static_cast<double>(integer->magnitude);
  return integer->negative ? -magnitude : magnitude;
}

std::string_view Value::text_at(uint64_t index) const {
  if (type != ValueType::string || index >= count) return {};
  const uint64_t begin = offsets[index];
  return {reinterpret_cast<const char*>(bytes.data()) + begin, offsets[index + 1] - begin};
}

const Value* find_value(const std::vector<KeyValue>& metadata, std::string_view key) {
  for (const KeyValue& entry : metadata)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

}  // namespace halogen::gguf
