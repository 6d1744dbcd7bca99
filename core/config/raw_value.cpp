#include "core/config/raw_value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace halogen {
namespace {

bool is_bare(std::string_view key) {
  if (key.empty()) return false;
  for (const char c : key) {
    const bool bare = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    if (!bare) return false;
  }
  return true;
}

std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), error == std::errc() ? end : buffer.data());
  if (text.find_first_of(".e") == std::string::npos) text += ".0";  // else TOML reads an integer
  return text;
}

}  // namespace

std::string dotted(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) {
    if (!text.empty()) text += '.';
    text += is_bare(part) ? part : quote_toml(part);
  }
  return text;
}

std::string quote_toml(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += "\\u00";
      quoted += hex[byte >> 4];
      quoted += hex[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string format_raw(const RawValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<T, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return std::to_string(held);
        } else if constexpr (std::is_same_v<T, double>) {
          return format_double(held);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return quote_toml(held);
        } else if constexpr (std::is_same_v<T, OtherToml>) {
          return "<" + held.what + ">";
        } else {
          std::string text = "[";
          for (const std::string& item : held)
            text += (text.size() > 1 ? ", " : "") + quote_toml(item);
          return text + "]";
        }
      },
      value);
}

}  // namespace halogen
