// Filters that make text or numbers of their subject.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/text/template/builtins.h"
#include "core/text/template/escape.h"
#include "core/text/template/format.h"
#include "core/text/template/json.h"
#include "core/text/template/literals.h"
#include "core/text/template/percent_format.h"
#include "core/text/template/text_algorithms.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

Value title(Call& call) {
  const std::string text = call.subject_text();
  std::string result;
  bool word_starts = true;
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    const char32_t c = code_point(text, at);
    const bool separator =
        is_space(c) || (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) !=
                                        std::string_view::npos);
    if (separator)
      append_utf8(result, c);
    else if (word_starts)
      append_upper(result, c);
    else
      append_lower(result, c);
    word_starts = separator;
  }
  return call.same_kind(std::move(result));
}

Value trim(Call& call) {
  std::optional<std::string_view> characters;
  if (call.has(0) && !call.value(0).is(Kind::none)) characters = call.text(0);
  const std::string text = call.subject_text();
  return call.same_kind(std::string(strip_text(text, characters, Ends::both)));
}

Value replace(Call& call) {
  const std::string old = to_text(call.budget(), call.value(0));
  const std::string with = to_text(call.budget(), call.value(1));
  return call.heap().string(replace_text(call.budget(), call.subject_text(), old, with,
                                         call.optional_integer(2).value_or(-1)));
}

Value indent(Call& call) {
  if (call.subject.is(Kind::undefined)) raise(call.subject.undefined_reason());
  if (!call.subject.is(Kind::string)) raise("'indent' wants a string");
  std::string indentation;
  if (call.has(0) && call.value(0).is(Kind::string)) {
    indentation = call.text(0);
  } else {
    const std::int64_t width = std::max<std::int64_t>(call.integer(0, 4), 0);
    indentation = TextBuilder(call.budget()).append(static_cast<std::size_t>(width), ' ').take();
  }
  const bool blank_lines = call.boolean(2);
  // As if a newline ended the text: then an empty text has one line, and a last newline counts.
  const std::string text = std::string(call.own_text()) + "\n";
  const auto lines = split_lines(call.budget(), text);
  TextBuilder out(call.budget());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n");
    if (i == 0 ? call.boolean(1) : blank_lines || !lines[i].empty()) out.append(indentation);
    out.append(lines[i]);
  }
  return call.same_kind(out.take());
}

Value escape(Call& call) {
  if (call.subject.is_markup()) return call.subject;
  TextBuilder out(call.budget());
  append_escaped(out, call.subject_text());
  return call.heap().string(out.take(), true);
}

Value format(Call& call) {
  Heap& heap = call.heap();
  const Value pattern =
      call.subject.is(Kind::string) ? call.subject : heap.string(call.subject_text());
  if (call.rest.named.empty())
    return percent_format(heap, pattern, heap.tuple(call.rest.positional));
  if (!call.rest.positional.empty())
    raise("'format' takes values by position or by name, not both");
  auto* named = heap.make<DictObject>();
  for (const auto& [name, value] : call.rest.named) named->set(heap.string(name), value);
  return percent_format(heap, pattern, heap.dict(named));
}

Value to_json_filter(Call& call) {
  JsonStyle style;
  style.ascii = call.boolean(0);
  style.sort_keys = call.boolean(3);
  if (call.has(1) && call.value(1).is(Kind::string)) {
    style.indent = std::string(call.text(1));
  } else if (const auto width = call.optional_integer(1)) {
    if (*width > 1000) raise("'tojson' got an indent of more than 1000");
    style.indent = std::string(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)), ' ');
  }
  if (style.indent) style.item_separator = ",";
  if (call.has(2) && !call.value(2).is(Kind::none)) {
    const auto separators = items_of(call.heap(), call.value(2));
    if (separators.size() != 2 || !separators[0].is(Kind::string) ||
        !separators[1].is(Kind::string)) {
      raise("'tojson' wants two strings as separators");
    }
    style.item_separator = separators[0].as_text();
    style.key_separator = separators[1].as_text();
  }
  return call.heap().string(to_json(call.heap(), call.subject, style));
}

Value truncate(Call& call) {
  const std::string text = call.subject_text();
  const std::int64_t limit = call.integer(0, 255);
  const std::string_view end = call.text(2, "...");
  const std::int64_t leeway = call.optional_integer(3).value_or(5);
  const auto end_length = static_cast<std::int64_t>(length(end));
  if (limit < end_length || leeway < 0) raise("'truncate' got a length shorter than its end mark");
  const auto size = static_cast<std::int64_t>(length(text));
  if (size <= limit || size - limit <= leeway) return call.same_kind(text);
  std::string kept =
      text.substr(0, byte_offset(text, static_cast<std::size_t>(limit - end_length)));
  if (!call.boolean(1)) kept = kept.substr(0, kept.rfind(' '));
  return call.same_kind(kept.append(end));
}

Value word_count(Call& call) {
  const std::string text = call.subject_text();
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    const char32_t c = code_point(text, at);
    const bool part = c == '_' || is_alphanumeric(c);
    if (part && !inside) ++words;
    inside = part;
  }
  return Value::integer(words);
}

void append_url(TextBuilder& out, std::string_view text, bool in_query) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (is_alphanumeric(byte) ||
                                       std::string_view("_.-~").find(c) != std::string_view::npos);
    if (plain || (c == '/' && !in_query))
      out.append(1, c);
    else if (c == ' ' && in_query)
      out.append("+");
    else
      out.append("%").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
  }
}

Value url_encode(Call& call) {
  TextBuilder out(call.budget());
  if (call.subject.is(Kind::string) || !is_iterable(call.subject)) {
    append_url(out, call.subject_text(), false);
    return call.heap().string(out.take());
  }
  Value pairs = call.subject;
  if (pairs.is(Kind::dict)) {
    pairs = Value::object(Kind::dict_view, call.heap().make<DictViewObject>(
                                               pairs.as_dict(), DictViewObject::Part::items));
  }
  bool first = true;
  for (const Value& pair : items_of(call.heap(), pairs)) {
    const auto parts = items_of(call.heap(), pair);
    if (parts.size() != 2) raise("'urlencode' wants pairs");
    if (!first) out.append("&");
    first = false;
    append_url(out, to_text(call.budget(), parts[0]), true);
    out.append("=");
    append_url(out, to_text(call.budget(), parts[1]), true);
  }
  return call.heap().string(out.take());
}

std::optional<Value> integer_of(double number) {
  if (std::isnan(number)) return std::nullopt;
  if (!(std::fabs(number) < 9223372036854775808.0))
    raise("a number does not fit in a 64-bit integer");
  return Value::integer(static_cast<std::int64_t>(number));
}

Value to_integer(Call& call) {
  const Value fallback = call.has(0) ? call.value(0) : Value::integer(0);
  const Value& value = call.subject;
  if (value.is(Kind::undefined)) raise(value.undefined_reason());
  if (value.is_integral()) return Value::integer(value.as_integer());
  if (value.is(Kind::real)) return integer_of(value.as_real()).value_or(fallback);
  if (!value.is(Kind::string)) return fallback;
  if (const auto number = parse_integer(value.as_text(), static_cast<int>(std::clamp<std::int64_t>(
                                                             call.integer(1, 10), 0, 99)))) {
    return Value::integer(*number);
  }
  const auto real = parse_real(value.as_text());
  return real ? integer_of(*real).value_or(fallback) : fallback;
}

Value to_real(Call& call) {
  const Value fallback = call.has(0) ? call.value(0) : Value::real(0);
  if (call.subject.is(Kind::undefined)) raise(call.subject.undefined_reason());
  if (call.subject.is_number()) return Value::real(call.subject.as_real());
  if (!call.subject.is(Kind::string)) return fallback;
  const auto number = parse_real(call.subject.as_text());
  return number ? Value::real(*number) : fallback;
}

Value absolute(Call& call) {
  const Value& value = call.subject;
  if (value.is(Kind::undefined)) raise(value.undefined_reason());
  if (!value.is_number()) raise("'abs' wants a number");
  if (value.is(Kind::real)) return Value::real(std::fabs(value.as_real()));
  return value.as_integer() < 0 ? negate(value) : Value::integer(value.as_integer());
}

// Python rounds the exact binary value, to even on ties, which is what printf does.
double round_common(double value, std::int64_t precision) {
  if (!std::isfinite(value) || precision > 300) return value;
  if (precision < -308) return std::copysign(0.0, value);
  if (precision < 0) {
    const double scale = std::pow(10.0, static_cast<double>(-precision));
    return std::nearbyint(value / scale) * scale;
  }
  char buffer[700];
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(precision), value);
  return std::strtod(buffer, nullptr);
}

Value round(Call& call) {
  const Value& value = call.subject;
  const std::int64_t precision = call.integer(0, 0);
  const std::string_view method = call.text(1, "common");
  if (value.is(Kind::undefined)) raise(value.undefined_reason());
  if (!value.is_number()) raise("'round' wants a number");
  if (method == "common") {
    if (value.is_integral() && precision >= 0) return Value::integer(value.as_integer());
    const double rounded = round_common(value.as_real(), precision);
    return value.is_integral() ? *integer_of(rounded) : Value::real(rounded);
  }
  if (method != "ceil" && method != "floor")
    raise("'round' knows the methods common, ceil and floor");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = value.as_real() * scale;
  // Python's ceil and floor give integers, which have no negative zero.
  return Value::real(((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) + 0.0) / scale);
}

constexpr Builtin kFilters[] = {
    {"upper", "", [](Call& c) { return c.same_kind(to_upper(c.subject_text())); }},
    {"lower", "", [](Call& c) { return c.same_kind(to_lower(c.subject_text())); }},
    {"capitalize", "", [](Call& c) { return c.same_kind(capitalize_text(c.subject_text())); }},
    {"title", "", title},
    {"trim", "?chars", trim},
    {"replace", "old new ?count", replace},
    {"indent", "?width ?first ?blank", indent},
    {"string", "",
     [](Call& c) {
       return c.subject.is(Kind::string) ? c.subject : c.heap().string(c.subject_text());
     }},
    {"safe", "", [](Call& c) { return c.heap().string(c.subject_text(), true); }},
    {"escape", "", escape},
    {"e", "", escape},
    {"forceescape", "",
     [](Call& c) {
       TextBuilder out(c.budget());
       append_escaped(out, c.subject_text());
       return c.heap().string(out.take(), true);
     }},
    {"format", "*", format},
    {"tojson", "?ensure_ascii ?indent ?separators ?sort_keys", to_json_filter},
    {"truncate", "?length ?killwords ?end ?leeway", truncate},
    {"center", "?width",
     [](Call& c) {
       return c.same_kind(
           pad_text(c.budget(), c.subject_text(), c.integer(0, 80), " ", Align::center));
     }},
    {"wordcount", "", word_count},
    {"urlencode", "", url_encode},
    {"int", "?default ?base", to_integer},
    {"float", "?default", to_real},
    {"abs", "", absolute},
    {"round", "?precision ?method", round},
};

}  // namespace

const Builtin* find_text_filter(std::string_view name) {
  return find_in(kFilters, name);
}

}  // namespace halogen::jinja
