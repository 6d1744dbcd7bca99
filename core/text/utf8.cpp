#include "core/text/utf8.h"

#include <algorithm>
#include <cstring>

namespace halogen::text {

namespace {

// What a lead byte asks for: how many bytes follow, and the range that the first of them must lie
// in (narrower than 80..BF where that keeps out overlong forms, surrogates and values past
// U+10FFFF).
struct Lead {
  uint8_t following;
  uint8_t least;
  uint8_t greatest;
};

constexpr Lead lead_of(uint8_t byte) {
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte < 0xF0) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte < 0xF4) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

size_t ascii_prefix(std::string_view text) {
  size_t length = 0;
  for (; length + sizeof(uint64_t) <= text.size(); length += sizeof(uint64_t)) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + length, sizeof(bytes));
    if ((bytes & 0x8080808080808080U) != 0) break;
  }
  while (length < text.size() && static_cast<uint8_t>(text[length]) < 0x80) length++;
  return length;
}

}  // namespace

Utf8Character read_character(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {Utf8::kValid, 1, first};
  const Lead lead = lead_of(first);
  if (lead.following == 0) return {Utf8::kInvalid, 1, 0};

  uint32_t code_point = first & (0x3FU >> lead.following);
  for (uint32_t i = 1; i <= lead.following; ++i) {
    if (i == text.size()) return {Utf8::kIncomplete, i, 0};
    const auto byte = static_cast<uint8_t>(text[i]);
    const uint8_t least = i == 1 ? lead.least : 0x80;
    const uint8_t greatest = i == 1 ? lead.greatest : 0xBF;
    if (byte < least || byte > greatest) return {Utf8::kInvalid, i, 0};
    code_point = code_point << 6U | (byte & 0x3FU);
  }
  return {Utf8::kValid, lead.following + 1U, code_point};
}

std::string_view first_character(std::string_view text) {
  const Utf8Character character = read_character(text);
  return text.substr(0, character.state == Utf8::kValid ? character.length : 1);
}

size_t valid_prefix(std::string_view text) {
  size_t length = 0;
  while (true) {
    length += ascii_prefix(text.substr(length));
    if (length == text.size()) return length;
    const Utf8Character character = read_character(text.substr(length));
    if (character.state != Utf8::kValid) return length;
    length += character.length;
  }
}

size_t complete_prefix(std::string_view text) {
  const size_t reach = std::min<size_t>(text.size(), 3);
  for (size_t back = 1; back <= reach; ++back) {
    const size_t start = text.size() - back;
    if ((static_cast<uint8_t>(text[start]) & 0xC0U) == 0x80) continue;
    const Utf8Character character = read_character(text.substr(start));
    return character.state == Utf8::kIncomplete ? start : text.size();
  }
  return text.size();
}

void append_sanitized(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const size_t valid = valid_prefix(text);
    out.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) return;
    out.append(kReplacementCharacter);
    text.remove_prefix(read_character(text).length);
  }
}

std::string sanitized(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_sanitized(text, out);
  return out;
}

void append_character(uint32_t code_point, std::string& out) {
  const auto tail = [&](uint32_t shift) {
    out.push_back(static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0U | code_point >> 6U));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | code_point >> 12U));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | code_point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace halogen::text
