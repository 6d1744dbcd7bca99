// Sizes and durations as operators write them: "96G", "80%", "1.5G"; "30s", "500ms".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace halogen {

// An amount of memory: a number of bytes, or a share of something that only the reader knows.
class ByteSize {
 public:
  constexpr ByteSize() = default;
  static constexpr ByteSize bytes(std::uint64_t count) { return ByteSize(count, false); }
  // `hundredths` of a percent: 8550 is 85.5 %.
  static constexpr ByteSize percent_hundredths(std::uint64_t hundredths) {
    return ByteSize(hundredths, true);
  }

  constexpr bool is_share() const { return is_share_; }
  // Bytes; or hundredths of a percent where is_share().
  constexpr std::uint64_t amount() const { return amount_; }
  // Bytes, a share being taken of `total` bytes and rounded down.
  constexpr std::uint64_t of(std::uint64_t total) const {
    return is_share_ ? total / 10000 * amount_ + total % 10000 * amount_ / 10000 : amount_;
  }

  constexpr bool operator==(const ByteSize&) const = default;

 private:
  constexpr ByteSize(std::uint64_t amount, bool is_share) : amount_(amount), is_share_(is_share) {}
  std::uint64_t amount_ = 0;
  bool is_share_ = false;
};

// [any] Reads "4096", "96G", "1.5g", "512MiB" (K, M, G, T are powers of 1024) or "80%" (at most
// 100, two decimals). A fraction of a byte is dropped. The error says what is wrong with `text`
// only.
Result<ByteSize> parse_size(std::string_view text);

// [any] The shortest text that parse_size reads back as the same value: "96G", "1536M", "37.5%".
std::string format_size(ByteSize size);

// [any] Reads "250ms", "30s", "5m", "2h", or a plain number of seconds; whole numbers only.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// [any] The shortest text that parse_duration reads back as the same value.
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace halogen
