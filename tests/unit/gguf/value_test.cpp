#include "plugins/gguf/value.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/gguf/byte_cursor.h"
#include "plugins/gguf/value_reader.h"
#include "tests/unit/gguf/gguf_writer.h"

namespace halogen::gguf {
namespace {

// Reads what follows a key of the given encoding.
Value parse(const std::string& type_and_value, Failure& failure) {
  const test::Scratch scratch;
  const std::string path = scratch.write("value", type_and_value);
  ReadOnlyFile file;
  Value value;
  EXPECT_TRUE(file.open(path, failure)) << failure.message;
  ByteCursor cursor(file);
  if (read_value(cursor, value, failure)) {
    EXPECT_EQ(cursor.remaining(), 0);
  }
  return value;
}

template <typename Number>
Value parse_number(ValueType type, Number number) {
  Failure failure;
  Value value =
      parse(test::bytes_of(static_cast<uint32_t>(type)) + test::bytes_of(number), failure);
  EXPECT_EQ(failure.message, "");
  return value;
}

TEST(GgufValue, ReadsEveryScalarTypeAtItsLimits) {
  EXPECT_EQ(parse_number(ValueType::u8, uint8_t{255}).unsigned_at(0), 255);
  EXPECT_EQ(parse_number(ValueType::i8, int8_t{-128}).signed_at(0), -128);
  EXPECT_EQ(parse_number(ValueType::u16, uint16_t{65535}).unsigned_at(0), 65535);
  EXPECT_EQ(parse_number(ValueType::i16, int16_t{-32768}).signed_at(0), -32768);
  EXPECT_EQ(parse_number(ValueType::u32, uint32_t{0xFFFFFFFF}).unsigned_at(0), 0xFFFFFFFF);
  EXPECT_EQ(parse_number(ValueType::i32, std::numeric_limits<int32_t>::min()).signed_at(0),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(parse_number(ValueType::u64, ~uint64_t{0}).unsigned_at(0), ~uint64_t{0});
  EXPECT_EQ(parse_number(ValueType::i64, std::numeric_limits<int64_t>::min()).signed_at(0),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse_number(ValueType::f32, 0.5F).real_at(0), 0.5);
  EXPECT_EQ(parse_number(ValueType::f64, -1e300).real_at(0), -1e300);
  EXPECT_TRUE(parse_number(ValueType::boolean, uint8_t{1}).is_scalar(ValueType::boolean));
}

TEST(GgufValue, NeverTurnsOneKindOfNumberIntoAnother) {
  EXPECT_EQ(parse_number(ValueType::i32, int32_t{-1}).unsigned_at(0), std::nullopt);
  EXPECT_EQ(parse_number(ValueType::u64, ~uint64_t{0}).signed_at(0), std::nullopt);
  EXPECT_EQ(parse_number(ValueType::f32, 5.0F).unsigned_at(0), std::nullopt);
  EXPECT_EQ(parse_number(ValueType::boolean, uint8_t{1}).unsigned_at(0), std::nullopt);
  EXPECT_EQ(parse_number(ValueType::i16, int16_t{-3}).real_at(0), -3.0);
  EXPECT_EQ(parse_number(ValueType::u8, uint8_t{1}).unsigned_at(1), std::nullopt);
}

TEST(GgufValue, KeepsStringsAsOneBlobWithOffsets) {
  Failure failure;
  const std::string encoded = test::texts_key("", {"ab", "", "cde"}).substr(8);
  const Value value = parse(encoded, failure);
  ASSERT_EQ(failure.message, "");
  EXPECT_EQ(value.count, 3);
  EXPECT_EQ(value.offsets, (std::vector<uint64_t>{0, 2, 2, 5}));
  EXPECT_EQ(value.bytes.size(), 5);
  EXPECT_EQ(value.text_at(0), "ab");
  EXPECT_EQ(value.text_at(1), "");
  EXPECT_EQ(value.text_at(2), "cde");
  EXPECT_EQ(value.text_at(3), "");
  EXPECT_EQ(value.description(), "array of 3 strings");
}

TEST(GgufValue, KeepsNumericArraysContiguous) {
  Failure failure;
  const Value value = parse(test::u32s_key("", {7, 8, 9}).substr(8), failure);
  ASSERT_EQ(failure.message, "");
  EXPECT_EQ(value.bytes.size(), 12);
  EXPECT_EQ(value.unsigned_at(2), 9);
  EXPECT_EQ(value.unsigned_at(3), std::nullopt);
}

TEST(GgufValue, StepsOverNestedArraysToALimit) {
  const auto nested = [](int depth) {
    std::string encoded = test::bytes_of(uint32_t{9});
    for (int i = 0; i < depth; i++)
      encoded += test::bytes_of(uint32_t{9}) + test::bytes_of(uint64_t{1});
    return encoded + test::bytes_of(uint32_t{0}) + test::bytes_of(uint64_t{1}) + "x";
  };
  Failure failure;
  const Value value = parse(nested(7), failure);
  EXPECT_EQ(failure.message, "");
  EXPECT_TRUE(value.is_array_of(ValueType::array));
  EXPECT_EQ(value.count, 1);
  EXPECT_TRUE(value.bytes.empty());
  parse(nested(8), failure);
  EXPECT_NE(failure.message.find("nested more than 8 deep"), std::string::npos) << failure.message;
}

TEST(GgufValue, RefusesABoolThatIsNeither) {
  Failure failure;
  parse(test::bytes_of(uint32_t{7}) + "\x07", failure);
  EXPECT_EQ(failure.message, "a bool stored as 7, not 0 or 1");
}

}  // namespace
}  // namespace halogen::gguf
