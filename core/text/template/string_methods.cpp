// Methods of strings.
#include <algorithm>
#include <limits>

#include "core/text/template/brace_format.h"
#include "core/text/template/builtins.h"
#include "core/text/template/format.h"
#include "core/text/template/text_algorithms.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

std::optional<std::string_view> optional_text(Call& call, std::size_t i) {
  if (!call.has(i) || call.value(i).is(Kind::none)) return std::nullopt;
  return call.text(i);
}

template <Ends ends>
Value strip(Call& call) {
  return call.same_kind(std::string(strip_text(call.own_text(), optional_text(call, 0), ends)));
}

Value texts_to_list(Call& call, const std::vector<std::string_view>& parts) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (const std::string_view part : parts) items.push_back(call.same_kind(std::string(part)));
  return call.heap().list(std::move(items));
}

Value split(Call& call) {
  return texts_to_list(call, split_text(call.budget(), call.own_text(), optional_text(call, 0),
                                        call.integer(1, -1)));
}

Value split_from_right(Call& call) {
  return texts_to_list(call, split_text_from_right(call.budget(), call.own_text(),
                                                   optional_text(call, 0), call.integer(1, -1)));
}

Value partition(Call& call, bool from_right) {
  const std::string_view text = call.own_text();
  const std::string_view separator = call.text(0);
  if (separator.empty()) raise("cannot split at an empty separator");
  const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
  Heap& heap = call.heap();
  const Value whole = heap.string(text);
  const Value empty = heap.string("");
  if (at == std::string_view::npos) {
    return from_right ? heap.tuple({empty, empty, whole}) : heap.tuple({whole, empty, empty});
  }
  return heap.tuple({heap.string(text.substr(0, at)), heap.string(separator),
                     heap.string(text.substr(at + separator.size()))});
}

// The part of the text that optional start and end arguments select, as bytes; absent when the
// start lies beyond the text.
std::optional<std::pair<std::size_t, std::size_t>> window(Call& call, std::size_t first) {
  const std::string_view text = call.own_text();
  if (!call.has(first)) return std::pair<std::size_t, std::size_t>{0, text.size()};
  const auto size = static_cast<std::int64_t>(length(text));
  const auto clamp = [size](std::int64_t at) {
    return at < 0 ? std::max<std::int64_t>(at + size, 0) : at;
  };
  const std::int64_t start = clamp(call.optional_integer(first).value_or(0));
  const std::int64_t end = std::min(clamp(call.optional_integer(first + 1).value_or(size)), size);
  if (start > end) return std::nullopt;
  return std::pair{byte_offset(text, static_cast<std::size_t>(start)),
                   byte_offset(text, static_cast<std::size_t>(end))};
}

bool matches(std::string_view text, std::string_view affix, bool at_start) {
  if (affix.size() > text.size()) return false;
  return (at_start ? text.substr(0, affix.size()) : text.substr(text.size() - affix.size())) ==
         affix;
}

Value has_affix(Call& call, bool at_start) {
  const auto part = window(call, 1);
  const Value wanted = call.value(0);
  const std::vector<Value> affixes =
      wanted.is(Kind::tuple) ? wanted.as_sequence().items : std::vector<Value>{wanted};
  for (const Value& affix : affixes) {
    if (affix.is(Kind::undefined)) raise(affix.undefined_reason());
    if (!affix.is(Kind::string)) {
      raise("'" + std::string(call.builtin.name) + "' wants a string or a tuple of strings, not '" +
            std::string(affix.type_name()) + "'");
    }
    if (part && matches(call.own_text().substr(part->first, part->second - part->first),
                        affix.as_text(), at_start)) {
      return Value::boolean(true);
    }
  }
  return Value::boolean(false);
}

std::int64_t position(Call& call, bool from_right) {
  const auto part = window(call, 1);
  if (!part) return -1;
  const std::string_view text = call.own_text().substr(part->first, part->second - part->first);
  const std::size_t at = from_right ? text.rfind(call.text(0)) : text.find(call.text(0));
  if (at == std::string_view::npos) return -1;
  return static_cast<std::int64_t>(length(call.own_text().substr(0, part->first + at)));
}

Value index(Call& call, bool from_right) {
  const std::int64_t at = position(call, from_right);
  if (at < 0) raise("'" + std::string(call.builtin.name) + "': the substring is not there");
  return Value::integer(at);
}

Value count(Call& call) {
  const auto part = window(call, 1);
  const std::string_view wanted = call.text(0);
  if (!part) return Value::integer(0);
  const std::string_view text = call.own_text().substr(part->first, part->second - part->first);
  if (wanted.empty()) return Value::integer(static_cast<std::int64_t>(length(text)) + 1);
  std::int64_t found = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + wanted.size())) {
    ++found;
  }
  return Value::integer(found);
}

Value replace(Call& call) {
  return call.same_kind(replace_text(call.budget(), call.own_text(), call.text(0), call.text(1),
                                     call.integer(2, -1)));
}

Value join(Call& call) {
  TextBuilder out(call.budget());
  bool first = true;
  for (const Value& item : items_of(call.heap(), call.value(0))) {
    if (!item.is(Kind::string)) {
      raise("'join' wants strings, not a value of type '" + std::string(item.type_name()) + "'");
    }
    call.budget().step();
    if (!first) out.append(call.own_text());
    first = false;
    out.append(item.as_text());
  }
  return call.same_kind(out.take());
}

// A capital after everything that is not a letter, as in "They'Re".
Value title(Call& call) {
  const std::string_view text = call.own_text();
  std::string result;
  bool after_letter = false;
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    const char32_t c = code_point(text, at);
    if (after_letter)
      append_lower(result, c);
    else
      append_title(result, c);
    after_letter = is_upper_case(c) || is_lower_case(c) || is_title_case(c);
  }
  return call.same_kind(std::move(result));
}

Value swap_case(Call& call) {
  const std::string_view text = call.own_text();
  std::string result;
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    const char32_t c = code_point(text, at);
    if (is_upper_case(c))
      append_lower(result, c);
    else if (is_title_case(c))
      append_utf8(result, c);
    else
      append_upper(result, c);
  }
  return call.same_kind(std::move(result));
}

template <bool (*predicate)(char32_t)>
Value all_are(Call& call) {
  const std::string_view text = call.own_text();
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    if (!predicate(code_point(text, at))) return Value::boolean(false);
  }
  return Value::boolean(!text.empty());
}

bool is_letter(char32_t c) {
  return is_alphanumeric(c) && !is_digit(c);
}

Value has_case(Call& call, std::string_view test) {
  return Value::boolean(call.interpreter.apply_test(test, call.subject, {}));
}

template <Align align>
Value padded(Call& call) {
  return call.same_kind(
      pad_text(call.budget(), call.own_text(), call.integer(0), call.text(1, " "), align));
}

Value zero_fill(Call& call) {
  const std::string_view text = call.own_text();
  const bool is_signed = !text.empty() && (text[0] == '-' || text[0] == '+');
  const std::string sign(is_signed ? text.substr(0, 1) : "");
  const std::int64_t width = std::max<std::int64_t>(call.integer(0), 0) - (is_signed ? 1 : 0);
  return call.same_kind(
      sign + pad_text(call.budget(), text.substr(sign.size()), width, "0", Align::right));
}

Value remove_affix(Call& call, bool at_start) {
  std::string_view text = call.own_text();
  const std::string_view affix = call.text(0);
  if (matches(text, affix, at_start)) {
    text = at_start ? text.substr(affix.size()) : text.substr(0, text.size() - affix.size());
  }
  return call.same_kind(std::string(text));
}

constexpr Builtin kMethods[] = {
    {"strip", "?chars", strip<Ends::both>},
    {"lstrip", "?chars", strip<Ends::left>},
    {"rstrip", "?chars", strip<Ends::right>},
    {"split", "?sep ?maxsplit", split},
    {"rsplit", "?sep ?maxsplit", split_from_right},
    {"splitlines", "?keepends",
     [](Call& c) { return texts_to_list(c, split_lines(c.budget(), c.own_text(), c.boolean(0))); }},
    {"partition", "sep", [](Call& c) { return partition(c, false); }},
    {"rpartition", "sep", [](Call& c) { return partition(c, true); }},
    {"startswith", "prefix ?start ?end", [](Call& c) { return has_affix(c, true); }},
    {"endswith", "suffix ?start ?end", [](Call& c) { return has_affix(c, false); }},
    {"removeprefix", "prefix", [](Call& c) { return remove_affix(c, true); }},
    {"removesuffix", "suffix", [](Call& c) { return remove_affix(c, false); }},
    {"find", "sub ?start ?end", [](Call& c) { return Value::integer(position(c, false)); }},
    {"rfind", "sub ?start ?end", [](Call& c) { return Value::integer(position(c, true)); }},
    {"index", "sub ?start ?end", [](Call& c) { return index(c, false); }},
    {"rindex", "sub ?start ?end", [](Call& c) { return index(c, true); }},
    {"count", "sub ?start ?end", count},
    {"replace", "old new ?count", replace},
    {"join", "iterable", join},
    {"format", "*", [](Call& c) { return brace_format(c.interpreter, c.subject, c.rest); }},
    {"upper", "", [](Call& c) { return c.same_kind(to_upper(c.own_text())); }},
    {"lower", "", [](Call& c) { return c.same_kind(to_lower(c.own_text())); }},
    {"casefold", "", [](Call& c) { return c.same_kind(to_lower(c.own_text())); }},
    {"capitalize", "", [](Call& c) { return c.same_kind(capitalize_text(c.own_text())); }},
    {"title", "", title},
    {"swapcase", "", swap_case},
    {"isdigit", "", all_are<is_digit>},
    {"isdecimal", "", all_are<is_digit>},
    {"isnumeric", "", all_are<is_digit>},
    {"isalpha", "", all_are<is_letter>},
    {"isalnum", "", all_are<is_alphanumeric>},
    {"isspace", "", all_are<is_space>},
    {"isupper", "", [](Call& c) { return has_case(c, "upper"); }},
    {"islower", "", [](Call& c) { return has_case(c, "lower"); }},
    {"center", "width ?fillchar", padded<Align::center>},
    {"ljust", "width ?fillchar", padded<Align::left>},
    {"rjust", "width ?fillchar", padded<Align::right>},
    {"zfill", "width", zero_fill},
};

}  // namespace

const Builtin* find_string_method(std::string_view name) {
  return find_in(kMethods, name);
}

}  // namespace halogen::jinja
