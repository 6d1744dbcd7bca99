// Decomposition and composition are utf8proc's; the canonical ordering between them is done here,
// because utf8proc's takes quadratic time for a long run of combining marks.
#include "core/text/normalize.h"

#include <algorithm>
#include <compare>
#include <vector>

#include <utf8proc.h>

#include "core/text/utf8.h"

namespace halogen::text {

namespace {

int combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

// Most characters do not, which spares them a slow search.
bool may_decompose(utf8proc_int32_t code_point) {
  const bool hangul = code_point >= 0xAC00 && code_point <= 0xD7A3;  // by arithmetic, not by table
  return hangul || utf8proc_get_property(code_point)->decomp_seqindex != UINT16_MAX;
}

void append_decomposed(uint32_t code_point, std::vector<utf8proc_int32_t>& out) {
  if (!may_decompose(static_cast<utf8proc_int32_t>(code_point))) {
    out.push_back(static_cast<utf8proc_int32_t>(code_point));
    return;
  }
  constexpr utf8proc_ssize_t kLongest = 18;  // Unicode's bound for one character
  utf8proc_int32_t parts[kLongest];
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(code_point), parts, kLongest, UTF8PROC_DECOMPOSE, &boundary);
  out.insert(out.end(), parts, parts + std::clamp<utf8proc_ssize_t>(count, 0, kLongest));
}

// Sorts each run of combining marks by their class; marks of one class keep their order.
void order_marks(std::vector<utf8proc_int32_t>& characters) {
  struct Mark {
    int combining_class;
    size_t place;
    utf8proc_int32_t character;
    auto operator<=>(const Mark&) const = default;
  };
  std::vector<Mark> run;
  for (size_t i = 0; i <= characters.size(); ++i) {
    const int mark_class = i < characters.size() ? combining_class(characters[i]) : 0;
    if (mark_class != 0) {
      run.push_back({mark_class, i, characters[i]});
      continue;
    }
    std::ranges::sort(run);
    for (size_t k = 0; k < run.size(); ++k) characters[i - run.size() + k] = run[k].character;
    run.clear();
  }
}

void append_normalized(std::string_view valid, std::string& out) {
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(valid.size());
  while (!valid.empty()) {
    const Utf8Character character = read_character(valid);
    append_decomposed(character.code_point, characters);
    valid.remove_prefix(character.length);
  }
  order_marks(characters);
  // STABLE honours the characters that form C never composes.
  constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const utf8proc_ssize_t count = utf8proc_normalize_utf32(
      characters.data(), static_cast<utf8proc_ssize_t>(characters.size()), kCompose);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_character(static_cast<uint32_t>(characters[static_cast<size_t>(i)]), out);
  }
}

}  // namespace

bool is_surely_normalized(std::string_view text) {
  constexpr uint8_t kLeadOf0300 = 0xCC;
  return std::ranges::none_of(text,
                              [](char byte) { return static_cast<uint8_t>(byte) >= kLeadOf0300; });
}

std::vector<uint32_t> decomposed(const std::vector<uint32_t>& characters) {
  std::vector<utf8proc_int32_t> parts;
  parts.reserve(characters.size());
  for (const uint32_t character : characters) append_decomposed(character, parts);
  order_marks(parts);
  return {parts.begin(), parts.end()};
}

std::string normalized_nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t valid = valid_prefix(text);
    append_normalized(text.substr(0, valid), out);
    text.remove_prefix(valid);
    if (text.empty()) break;
    const uint32_t broken = read_character(text).length;
    out.append(text.substr(0, broken));
    text.remove_prefix(broken);
  }
  return out;
}

}  // namespace halogen::text
