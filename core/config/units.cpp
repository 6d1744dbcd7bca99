// Integer arithmetic throughout: a size must not lose bytes to a double, and every overflow is
// seen.
#include "core/config/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace halogen {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMaxDecimals = 6;  // 10^6 * 2^40 stays far below 2^64

struct Decimal {
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;  // of `scale`
  std::uint64_t scale = 1;     // 10 to the number of decimals
  std::string_view unit;       // what follows the number
};

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Result<Decimal> parse_decimal(std::string_view text, std::string_view what) {
  Decimal number;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number.whole);
  if (error == std::errc::result_out_of_range)
    return fail(HALOGEN_E_INVALID, quoted(text) + " is too large");
  if (error != std::errc()) {
    return fail(HALOGEN_E_INVALID,
                quoted(text) + " is not a " + std::string(what) + ": it must begin with a digit");
  }
  std::size_t next = static_cast<std::size_t>(after - text.data());
  if (next < text.size() && text[next] == '.') {
    const std::size_t first = ++next;
    while (next < text.size() && is_digit(text[next])) {
      if (next - first == kMaxDecimals)
        return fail(HALOGEN_E_INVALID, quoted(text) + " has more than 6 decimals");
      number.fraction = number.fraction * 10 + static_cast<std::uint64_t>(text[next] - '0');
      number.scale *= 10;
      next++;
    }
    if (next == first)
      return fail(HALOGEN_E_INVALID, quoted(text) + " has no digit after its decimal point");
  }
  number.unit = text.substr(next);
  return number;
}

struct Unit {
  char letter;
  std::uint64_t bytes;
};
constexpr std::array<Unit, 4> kUnits = {{{'T', std::uint64_t{1} << 40},
                                         {'G', std::uint64_t{1} << 30},
                                         {'M', std::uint64_t{1} << 20},
                                         {'K', std::uint64_t{1} << 10}}};

std::optional<std::uint64_t> unit_bytes(std::string_view unit) {
  if (unit.empty()) return 1;
  if (unit.size() != 1 && unit.substr(1) != "iB") return std::nullopt;
  for (const auto& [letter, bytes] : kUnits)
    if (unit[0] == letter || unit[0] == letter - 'A' + 'a') return bytes;
  return std::nullopt;
}

Result<ByteSize> percentage(std::string_view text, const Decimal& number) {
  if (number.scale > 100)
    return fail(HALOGEN_E_INVALID, quoted(text) + " has more than 2 decimals");
  if (number.whole > 100 || (number.whole == 100 && number.fraction > 0))
    return fail(HALOGEN_E_INVALID, quoted(text) + " is more than 100%");
  return ByteSize::percent_hundredths(number.whole * 100 + number.fraction * (100 / number.scale));
}

}  // namespace

Result<ByteSize> parse_size(std::string_view text) {
  Result<Decimal> number = parse_decimal(text, "size");
  if (!number) return number.error();
  if (number->unit == "%") return percentage(text, *number);
  const std::optional<std::uint64_t> unit = unit_bytes(number->unit);
  if (!unit) {
    return fail(HALOGEN_E_INVALID, quoted(text) + " ends in " + quoted(number->unit) +
                                       ", which is none of K, M, G, T and %");
  }
  const std::uint64_t part = number->fraction * *unit / number->scale;
  if (number->whole > (kMost - part) / *unit)
    return fail(HALOGEN_E_INVALID, quoted(text) + " is too large");
  return ByteSize::bytes(number->whole * *unit + part);
}

std::string format_size(ByteSize size) {
  if (size.is_share()) {
    std::string text = std::to_string(size.amount() / 100);
    if (const std::uint64_t fraction = size.amount() % 100; fraction != 0) {
      text += '.';
      text += static_cast<char>('0' + fraction / 10);
      if (fraction % 10 != 0) text += static_cast<char>('0' + fraction % 10);
    }
    return text + "%";
  }
  for (const auto& [letter, bytes] : kUnits)
    if (size.amount() != 0 && size.amount() % bytes == 0)
      return std::to_string(size.amount() / bytes) + letter;
  return std::to_string(size.amount());
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  Result<Decimal> number = parse_decimal(text, "duration");
  if (!number) return number.error();
  if (number->scale != 1) {
    return fail(HALOGEN_E_INVALID,
                quoted(text) + " has decimals; write it in a smaller unit, such as ms");
  }
  std::uint64_t unit = 0;
  if (number->unit == "ms") unit = 1;
  if (number->unit == "s" || number->unit.empty()) unit = 1000;
  if (number->unit == "m") unit = 60 * 1000;
  if (number->unit == "h") unit = 60 * 60 * 1000;
  if (unit == 0) {
    return fail(HALOGEN_E_INVALID, quoted(text) + " ends in " + quoted(number->unit) +
                                       ", which is none of ms, s, m and h");
  }
  if (number->whole > most / unit) return fail(HALOGEN_E_INVALID, quoted(text) + " is too large");
  return std::chrono::milliseconds(static_cast<std::int64_t>(number->whole * unit));
}

std::string format_duration(std::chrono::milliseconds duration) {
  const std::int64_t count = duration.count();
  if (count != 0 && count % (60 * 60 * 1000) == 0) return std::to_string(count / 3600000) + "h";
  if (count != 0 && count % (60 * 1000) == 0) return std::to_string(count / 60000) + "m";
  if (count % 1000 == 0) return std::to_string(count / 1000) + "s";
  return std::to_string(count) + "ms";
}

}  // namespace halogen
