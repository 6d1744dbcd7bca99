#include "core/text/character_map.h"

#include <algorithm>

#include <utf8proc.h>

#include "core/text/fragment_encoder.h"
#include "core/text/utf8.h"

namespace halogen::text {

namespace {

// Longer ones are an attack on memory; Unicode's own need 33 bytes.
constexpr size_t kLongestReplacement = 256;
constexpr size_t kShortCluster = 6;  // bytes
constexpr uint32_t kPlanes = 0x20000;

// The fields of a unit, which the format packs into 32 bits. A leaf holds its value instead.
constexpr bool has_leaf(uint32_t unit) {
  return (unit >> 8U & 1U) != 0;
}
constexpr uint32_t value_of(uint32_t unit) {
  return unit & 0x7FFFFFFFU;
}
constexpr uint32_t label_of(uint32_t unit) {
  return unit & 0x800000FFU;
}
constexpr uint32_t offset_of(uint32_t unit) {
  return unit >> 10U << ((unit & 0x200U) >> 6U);
}

uint32_t little_endian(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = 4; i-- > 0;) number = number << 8U | static_cast<uint8_t>(bytes[i]);
  return number;
}

Error damaged(std::string what) {
  return fail(HALOGEN_E_INVALID,
              "the vocabulary's character map " + std::move(what) + "; the model file is damaged");
}

size_t longest_string(std::string_view strings) {
  size_t longest = 0;
  while (!strings.empty()) {
    const size_t length = std::min(strings.find('\0'), strings.size());
    longest = std::max(longest, length);
    strings.remove_prefix(std::min(length + 1, strings.size()));
  }
  return longest;
}

// The grapheme cluster (UAX #29) that `text` begins with; a byte of a broken character counts
// alone.
std::string_view first_cluster(std::string_view text) {
  Utf8Character before = read_character(text);
  if (before.state != Utf8::kValid) return text.substr(0, 1);
  utf8proc_int32_t state = 0;
  size_t length = before.length;
  while (length < text.size()) {
    const Utf8Character next = read_character(text.substr(length));
    if (next.state != Utf8::kValid ||
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.code_point),
                                         static_cast<utf8proc_int32_t>(next.code_point), &state)) {
      break;
    }
    length += next.length;
    before = next;
  }
  return text.substr(0, length);
}

}  // namespace

Result<CharacterMap> CharacterMap::parse(std::string_view bytes) {
  CharacterMap map;
  if (bytes.empty()) {
    map.find_plain_characters();
    return map;
  }
  if (bytes.size() < 4) return damaged("is shorter than its size field");
  const uint32_t array_bytes = little_endian(bytes);
  bytes.remove_prefix(4);
  if (array_bytes % 4 != 0 || array_bytes > bytes.size()) {
    return damaged("says that its table has " + std::to_string(array_bytes) + " bytes, but " +
                   std::to_string(bytes.size()) + " follow");
  }
  for (size_t i = 0; i < array_bytes; i += 4) {
    map.units_.push_back(little_endian(bytes.substr(i, 4)));
  }
  map.replacements_ = bytes.substr(array_bytes);
  if (!map.replacements_.empty() && map.replacements_.back() != '\0') {
    return damaged("ends within a replacement");
  }
  if (const size_t longest = longest_string(map.replacements_); longest > kLongestReplacement) {
    return damaged("has a replacement of " + std::to_string(longest) + " bytes");
  }
  map.find_plain_characters();
  return map;
}

void CharacterMap::find_plain_characters() {
  for (size_t i = 0; i < ascii_.size(); ++i) {
    const char character = static_cast<char>(i);
    append_cluster({&character, 1}, ascii_[i]);
  }
  plain_.assign(kPlanes, false);
  std::string character;
  for (uint32_t code_point = 0; code_point < kPlanes; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;  // surrogates are no characters
    const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point));
    if (property->boundclass != UTF8PROC_BOUNDCLASS_OTHER &&
        property->boundclass != UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC) {
      continue;
    }
    character.clear();
    append_character(code_point, character);
    plain_[code_point] = !find_key(character).is_key;
    if (code_point < plain_ascii_.size()) plain_ascii_[code_point] = plain_[code_point];
  }
}

// How many bytes at the start of `text` are plain characters that a plain one, or nothing, follows.
size_t CharacterMap::plain_prefix(std::string_view text) const {
  size_t certain = 0;
  size_t length = 0;
  while (length < text.size()) {
    if (const auto byte = static_cast<uint8_t>(text[length]); byte < 0x80 && plain_ascii_[byte]) {
      certain = length++;
      continue;
    }
    const Utf8Character next = read_character(text.substr(length));
    const bool plain =
        next.state == Utf8::kValid && next.code_point < kPlanes && plain_[next.code_point];
    if (!plain) return certain;
    certain = length;
    length += next.length;
  }
  return length;
}

Result<std::string> CharacterMap::apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const size_t plain = plain_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto first = static_cast<uint8_t>(text[0]);
    const bool alone = first < 0x80 && text.size() > 1 && static_cast<uint8_t>(text[1]) < 0x80;
    if (alone && !text.starts_with("\r\n")) {  // which are one cluster
      out += ascii_[first];
      text.remove_prefix(1);
      continue;
    }
    const std::string_view cluster = first_cluster(text);
    append_cluster(cluster, out);
    text.remove_prefix(cluster.size());
    if (out.size() > kTextLimit) {
      return fail(HALOGEN_E_INVALID, "a text grows past 1 GiB when it is normalised");
    }
  }
  return out;
}

void CharacterMap::append_cluster(std::string_view cluster, std::string& out) const {
  if (cluster.size() < kShortCluster && append_replacement(cluster, out)) return;
  while (!cluster.empty()) {
    const Utf8Character character = read_character(cluster);
    const bool valid = character.state == Utf8::kValid;
    const std::string_view bytes = cluster.substr(0, valid ? character.length : 1);
    if (!valid) {
      out += kReplacementCharacter;
    } else if (!append_replacement(bytes, out)) {
      out += bytes;
    }
    cluster.remove_prefix(bytes.size());
  }
}

CharacterMap::Position CharacterMap::start() const {
  if (units_.empty()) return {};
  return {true, false, offset_of(units_[0]), 0};
}

// One step of the double array; every index is checked, since the file is not to be trusted.
CharacterMap::Position CharacterMap::step(Position from, uint8_t byte) const {
  uint32_t node = from.node ^ byte;
  if (!from.exists || node >= units_.size() || label_of(units_[node]) != byte) return {};
  const uint32_t unit = units_[node];
  node ^= offset_of(unit);
  Position to = {true, false, node, 0};
  if (has_leaf(unit) && node < units_.size()) {
    to.replacement = value_of(units_[node]);
    to.is_key = to.replacement < replacements_.size();
  }
  return to;
}

// Where the shortest key that `text` begins with ends.
CharacterMap::Position CharacterMap::find_key(std::string_view text) const {
  Position position = start();
  for (const char byte : text) {
    position = step(position, static_cast<uint8_t>(byte));
    if (!position.exists || position.is_key) break;
  }
  return position;
}

bool CharacterMap::append_replacement(std::string_view text, std::string& out) const {
  const Position position = find_key(text);
  if (position.is_key) out += replacements_.c_str() + position.replacement;
  return position.is_key;
}

}  // namespace halogen::text
