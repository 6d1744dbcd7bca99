#include "core/config/units.h"

#include <gtest/gtest.h>

namespace halogen {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::uint64_t bytes(std::string_view text) {
  Result<ByteSize> size = parse_size(text);
  EXPECT_TRUE(size.ok()) << (size.ok() ? "" : size.error().message);
  EXPECT_TRUE(size.ok() && !size->is_share()) << text;
  return size.ok() ? size->amount() : 0;
}

std::string refusal(std::string_view text) {
  Result<ByteSize> size = parse_size(text);
  return size.ok() ? "accepted as " + format_size(*size) : size.error().message;
}

TEST(Size, UnitsArePowersOf1024) {
  EXPECT_EQ(bytes("0"), 0u);
  EXPECT_EQ(bytes("4096"), 4096u);
  EXPECT_EQ(bytes("3K"), 3u * 1024);
  EXPECT_EQ(bytes("3M"), 3u * 1024 * 1024);
  EXPECT_EQ(bytes("96G"), 96 * kGiB);
  EXPECT_EQ(bytes("2T"), 2048 * kGiB);
  EXPECT_EQ(bytes("96g"), 96 * kGiB);
  EXPECT_EQ(bytes("96GiB"), 96 * kGiB);
}

TEST(Size, FractionsAreExactAndRoundedDownToBytes) {
  EXPECT_EQ(bytes("1.5G"), kGiB + kGiB / 2);
  EXPECT_EQ(bytes("0.3K"), 307u);
  EXPECT_EQ(bytes("1.9"), 1u);
  EXPECT_EQ(bytes("0.000001T"), 1099511u);
}

TEST(Size, TheLargestNumberIsReadAndOneMoreIsNot) {
  EXPECT_EQ(bytes("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(refusal("18446744073709551616"), "\"18446744073709551616\" is too large");
  EXPECT_EQ(bytes("16777215T"), std::uint64_t{16777215} << 40);
  EXPECT_EQ(bytes("16777215.999999T"),
            (std::uint64_t{16777215} << 40) + 999999 * (std::uint64_t{1} << 40) / 1000000);
  EXPECT_EQ(refusal("16777216T"), "\"16777216T\" is too large");
  EXPECT_EQ(refusal("18446744073709551615K"), "\"18446744073709551615K\" is too large");
}

TEST(Size, PercentagesKeepTwoDecimals) {
  EXPECT_EQ(*parse_size("80%"), ByteSize::percent_hundredths(8000));
  EXPECT_EQ(*parse_size("37.5%"), ByteSize::percent_hundredths(3750));
  EXPECT_EQ(*parse_size("0.01%"), ByteSize::percent_hundredths(1));
  EXPECT_EQ(*parse_size("100%"), ByteSize::percent_hundredths(10000));
  EXPECT_EQ(refusal("100.01%"), "\"100.01%\" is more than 100%");
  EXPECT_EQ(refusal("101%"), "\"101%\" is more than 100%");
  EXPECT_EQ(refusal("1.234%"), "\"1.234%\" has more than 2 decimals");
}

TEST(Size, AShareIsTakenWithoutOverflow) {
  EXPECT_EQ(ByteSize::percent_hundredths(8500).of(1000), 850u);
  EXPECT_EQ(ByteSize::percent_hundredths(10000).of(~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(ByteSize::percent_hundredths(3333).of(10), 3u);
  EXPECT_EQ(ByteSize::bytes(7).of(1000), 7u);
}

TEST(Size, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("12Q"), "\"12Q\" ends in \"Q\", which is none of K, M, G, T and %");
  EXPECT_EQ(refusal("12GB"), "\"12GB\" ends in \"GB\", which is none of K, M, G, T and %");
  EXPECT_EQ(refusal("12 G"), "\"12 G\" ends in \" G\", which is none of K, M, G, T and %");
  EXPECT_EQ(refusal(""), "\"\" is not a size: it must begin with a digit");
  EXPECT_EQ(refusal("-1G"), "\"-1G\" is not a size: it must begin with a digit");
  EXPECT_EQ(refusal("G"), "\"G\" is not a size: it must begin with a digit");
  EXPECT_EQ(refusal("1.G"), "\"1.G\" has no digit after its decimal point");
  EXPECT_EQ(refusal("1.0000001G"), "\"1.0000001G\" has more than 6 decimals");
}

TEST(Size, FormattingReadsBackAsTheSame) {
  for (const char* text : {"0", "1", "1023", "1K", "1025", "1536M", "96G", "2T", "80%", "37.5%",
                           "0.05%", "100%", "18446744073709551615"})
    EXPECT_EQ(format_size(*parse_size(text)), text);
  EXPECT_EQ(format_size(*parse_size("1.5G")), "1536M");
}

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("250ms")->count(), 250);
  EXPECT_EQ(parse_duration("30s")->count(), 30'000);
  EXPECT_EQ(parse_duration("30")->count(), 30'000);
  EXPECT_EQ(parse_duration("5m")->count(), 300'000);
  EXPECT_EQ(parse_duration("2h")->count(), 7'200'000);
}

TEST(Duration, SaysWhatIsWrong) {
  EXPECT_EQ(parse_duration("1.5s").error().message,
            "\"1.5s\" has decimals; write it in a smaller unit, such as ms");
  EXPECT_EQ(parse_duration("3d").error().message,
            "\"3d\" ends in \"d\", which is none of ms, s, m and h");
  EXPECT_EQ(parse_duration("soon").error().message,
            "\"soon\" is not a duration: it must begin with a digit");
  EXPECT_EQ(parse_duration("9223372036854775807s").error().message,
            "\"9223372036854775807s\" is too large");
}

TEST(Duration, FormattingReadsBackAsTheSame) {
  for (const char* text : {"0s", "1ms", "999ms", "1s", "90s", "5m", "2h", "1500ms"})
    EXPECT_EQ(format_duration(*parse_duration(text)), text);
}

}  // namespace
}  // namespace halogen
