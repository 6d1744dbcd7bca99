// Conversion specifications: "%-8.3f" and "{:>8.3f}" are parsed into the same few fields.
#include "core/text/template/percent_format.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "core/text/template/escape.h"
#include "core/text/template/format.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

constexpr std::int64_t kMaxWidth = 1 << 20;
constexpr int kMaxPrecision = 400;

struct Specification {
  std::string fill = " ";
  char align = '\0';  // < > ^ =, or 0 for the type's own
  char sign = '-';
  bool alternate = false;
  char grouping = '\0';  // , or _
  std::int64_t width = 0;
  std::optional<int> precision;
  char type = '\0';
};

std::int64_t read_count(std::string_view text, std::size_t& at) {
  std::int64_t value = 0;
  while (at < text.size() && is_digit(static_cast<unsigned char>(text[at]))) {
    value = value * 10 + (text[at++] - '0');
    if (value > kMaxWidth) raise("a width or precision in a format string is too large");
  }
  return value;
}

std::string integer_digits(std::uint64_t magnitude, int base, bool upper) {
  const std::string_view digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), digits[magnitude % static_cast<std::uint64_t>(base)]);
    magnitude /= static_cast<std::uint64_t>(base);
  } while (magnitude != 0);
  return text;
}

std::string real_digits(double magnitude, const Specification& spec) {
  if (!std::isfinite(magnitude)) {
    const bool upper = spec.type == 'F' || spec.type == 'E' || spec.type == 'G';
    if (std::isnan(magnitude)) return upper ? "NAN" : "nan";
    return upper ? "INF" : "inf";
  }
  char type = spec.type == '%' ? 'f' : spec.type;
  const int precision = std::min(spec.precision.value_or(6), kMaxPrecision);
  if (type == '\0' && !spec.precision) return real_text(magnitude);
  if (type == '\0') type = 'g';
  const char format[] = {'%',
                         spec.alternate ? '#' : '.',
                         spec.alternate ? '.' : '*',
                         spec.alternate ? '*' : type,
                         spec.alternate ? type : '\0',
                         '\0'};
  char buffer[1024];
  std::snprintf(buffer, sizeof buffer, format, precision, magnitude);
  std::string text = buffer;
  if (spec.type == '\0' && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string grouped(const std::string& digits, char separator, std::size_t every) {
  if (separator == '\0') return digits;
  std::size_t whole = 0;
  while (whole < digits.size() && digits[whole] != '.' && digits[whole] != 'e') ++whole;
  std::string text;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % every == 0) text.push_back(separator);
    text.push_back(digits[i]);
  }
  return text + digits.substr(whole);
}

std::string pad(Heap& heap, const std::string& prefix, const std::string& body,
                const Specification& spec, char own_align) {
  const auto size = static_cast<std::int64_t>(length(prefix) + length(body));
  const std::int64_t missing = std::max<std::int64_t>(spec.width - size, 0);
  const char align = spec.align != '\0' ? spec.align : own_align;
  const std::int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  TextBuilder out(heap.budget());
  const auto fill = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out.append(spec.fill);
  };
  if (align == '=') out.append(prefix);
  fill(left);
  if (align != '=') out.append(prefix);
  out.append(body);
  fill(missing - left);
  return out.take();
}

std::string format_number(Heap& heap, const Value& value, const Specification& spec) {
  const bool real =
      value.is(Kind::real) || std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  std::string prefix;
  std::string digits;
  bool negative = false;
  std::size_t every = 3;
  if (real && spec.type != '\0' &&
      std::string_view("eEfFgG%").find(spec.type) == std::string_view::npos) {
    raise("unknown format code '" + std::string(1, spec.type) + "' for a float");
  }
  if (real) {
    const double number = value.as_real();
    negative = std::signbit(number) && !std::isnan(number);
    digits = real_digits(std::fabs(spec.type == '%' ? number * 100 : number), spec);
    if (spec.type == '%') digits += '%';
  } else {
    const std::int64_t number = value.as_integer();
    negative = number < 0;
    const auto magnitude =
        negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    const int base = spec.type == 'x' || spec.type == 'X' ? 16
                     : spec.type == 'o'                   ? 8
                     : spec.type == 'b'                   ? 2
                                                          : 10;
    if (base != 10) every = 4;
    digits = integer_digits(magnitude, base, spec.type == 'X');
    if (spec.precision && digits.size() < static_cast<std::size_t>(*spec.precision)) {
      digits.insert(0, static_cast<std::size_t>(*spec.precision) - digits.size(), '0');
    }
    if (spec.alternate && base != 10) prefix = std::string("0") + spec.type;
  }
  if (negative) prefix.insert(0, "-");
  if (!negative && spec.sign != '-') prefix.insert(0, 1, spec.sign);
  return pad(heap, prefix, grouped(digits, spec.grouping, every), spec, '>');
}

std::string format_string(Heap& heap, std::string_view text, const Specification& spec) {
  if (spec.precision)
    text = text.substr(0, byte_offset(text, static_cast<std::size_t>(*spec.precision)));
  return pad(heap, "", std::string(text), spec, '<');
}

// The values of a % operation, handed out in turn or by name.
class PercentValues {
 public:
  PercentValues(const Value& values) : values_(values) {}

  Value next() {
    if (!values_.is(Kind::tuple)) {
      if (taken_++ > 0) raise("not enough arguments for the format string");
      return values_;
    }
    const auto& items = values_.as_sequence().items;
    if (taken_ >= items.size()) raise("not enough arguments for the format string");
    return items[taken_++];
  }

  Value named(std::string_view name) {
    by_name_ = true;
    if (!values_.is(Kind::dict)) raise("the format string names its values, so it needs a mapping");
    const Value* value = values_.as_dict().find(name);
    if (value == nullptr)
      raise("the format string names an unknown value: '" + std::string(name) + "'");
    return *value;
  }

  void finish() const {
    const std::size_t given = values_.is(Kind::tuple) ? values_.as_sequence().items.size() : 1;
    const bool mapping = values_.is(Kind::dict) || values_.is(Kind::list);
    if (!by_name_ && taken_ < given && !mapping) {
      raise("not all arguments were used by the format string");
    }
  }

 private:
  const Value& values_;
  std::size_t taken_ = 0;
  bool by_name_ = false;
};

std::int64_t count_or_star(std::string_view format, std::size_t& at, PercentValues& values) {
  if (at >= format.size() || format[at] != '*') return read_count(format, at);
  ++at;
  const Value width = values.next();
  if (!width.is_integral()) raise("'*' in a format string needs an integer");
  if (std::abs(width.as_integer()) > kMaxWidth)
    raise("a width or precision in a format string is too large");
  return width.as_integer();
}

std::string convert(Heap& heap, const Value& value, Specification spec) {
  switch (spec.type) {
    case 's':
    case 'r':
    case 'a': {
      const std::string text = spec.type == 's' ? to_text(heap.budget(), value)
                                                : to_representation(heap.budget(), value);
      if (spec.align == '=') spec.align = '\0', spec.fill = " ";
      if (spec.align == '\0') spec.align = '>';
      return format_string(heap, text, spec);
    }
    case 'c':
      if (value.is_integral() && value.as_integer() >= 0 && value.as_integer() < 0xD800) {
        std::string text;
        append_utf8(text, static_cast<char32_t>(value.as_integer()));
        return pad(heap, "", text, spec, '>');
      }
      if (value.is(Kind::string) && length(value.as_text()) == 1) {
        return pad(heap, "", std::string(value.as_text()), spec, '>');
      }
      raise("%c needs one character");
    case 'd':
    case 'i':
    case 'u':
      if (value.is_integral()) return format_number(heap, value, spec);
      if (value.is(Kind::real) && std::fabs(value.as_real()) < 9.2e18) {
        return format_number(heap, Value::integer(static_cast<std::int64_t>(value.as_real())),
                             spec);
      }
      break;
    case 'x':
    case 'X':
    case 'o':
      if (value.is_integral()) return format_number(heap, value, spec);
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (value.is_number()) return format_number(heap, value, spec);
      break;
    default:
      raise("unsupported format character '" + std::string(1, spec.type) + "'");
  }
  if (value.is(Kind::undefined)) raise(value.undefined_reason());
  if (value.is_number() && std::string_view("diu").find(spec.type) != std::string_view::npos) {
    raise("%" + std::string(1, spec.type) + ": the number does not fit in 64 bits");
  }
  raise("%" + std::string(1, spec.type) + " needs a number, not '" +
        std::string(value.type_name()) + "'");
}

Specification parse_specification(std::string_view text) {
  Specification spec;
  std::size_t at = 0;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  const std::size_t first = text.empty() ? 0 : code_point_size(text, 0);
  if (first < text.size() && is_align(text[first])) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    at = first + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[at++];
  }
  if (at < text.size() && (text[at] == '+' || text[at] == '-' || text[at] == ' '))
    spec.sign = text[at++];
  if (at < text.size() && text[at] == '#') spec.alternate = true, ++at;
  if (at < text.size() && text[at] == '0') {
    if (spec.align == '\0') spec.fill = "0", spec.align = '=';
    ++at;
  }
  spec.width = read_count(text, at);
  if (at < text.size() && (text[at] == ',' || text[at] == '_')) spec.grouping = text[at++];
  if (at < text.size() && text[at] == '.') {
    const std::size_t digits = ++at;
    spec.precision = static_cast<int>(read_count(text, at));
    if (at == digits) raise("a format specification lacks the digits of its precision");
  }
  if (at < text.size()) spec.type = text[at++];
  if (at != text.size())
    raise("invalid format specification '" + std::string(text.substr(0, 40)) + "'");
  return spec;
}

}  // namespace

Value percent_format(Heap& heap, const Value& format, const Value& values) {
  const std::string_view text = format.as_text();
  PercentValues source(values);
  TextBuilder out(heap.budget());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t percent = std::min(text.find('%', at), text.size());
    out.append(text.substr(at, percent - at));
    at = percent + 1;
    if (percent == text.size()) break;
    std::optional<Value> value;
    if (at < text.size() && text[at] == '(') {
      const std::size_t close = text.find(')', at);
      if (close == std::string_view::npos) raise("a name in a format string is not closed");
      value = source.named(text.substr(at + 1, close - at - 1));
      at = close + 1;
    }
    Specification spec;
    for (; at < text.size() && std::string_view("-+ #0").find(text[at]) != std::string_view::npos;
         ++at) {
      if (text[at] == '-') spec.align = '<', spec.fill = " ";
      if (text[at] == '+' || (text[at] == ' ' && spec.sign == '-')) spec.sign = text[at];
      if (text[at] == '#') spec.alternate = true;
      if (text[at] == '0' && spec.align != '<') spec.align = '=', spec.fill = "0";
    }
    spec.width = count_or_star(text, at, source);
    if (spec.width < 0) spec.align = '<', spec.fill = " ", spec.width = -spec.width;
    if (at < text.size() && text[at] == '.') {
      spec.precision =
          static_cast<int>(std::max<std::int64_t>(count_or_star(text, ++at, source), 0));
    }
    while (at < text.size() && (text[at] == 'l' || text[at] == 'h' || text[at] == 'L')) ++at;
    if (at >= text.size()) raise("incomplete format string");
    spec.type = text[at++];
    if (spec.type == '%') {
      out.append("%");
      continue;
    }
    const Value operand = value ? *value : source.next();
    const std::string converted = convert(heap, operand, spec);
    if (format.is_markup() && !operand.is_markup())
      append_escaped(out, converted);
    else
      out.append(converted);
  }
  source.finish();
  return heap.string(out.take(), format.is_markup());
}

std::string format_value(Heap& heap, const Value& value, std::string_view specification) {
  if (specification.empty()) return to_text(heap.budget(), value);
  const Specification spec = parse_specification(specification);
  if (value.is(Kind::undefined)) raise(value.undefined_reason());
  if (value.is(Kind::string)) {
    if (spec.type != '\0' && spec.type != 's') {
      raise("unknown format code '" + std::string(1, spec.type) + "' for a string");
    }
    return format_string(heap, value.as_text(), spec);
  }
  if (!value.is_number()) {
    raise("a value of type '" + std::string(value.type_name()) + "' takes no format specification");
  }
  if (std::string_view("deEfFgG%xXob").find(spec.type) == std::string_view::npos &&
      spec.type != '\0') {
    raise("unknown format code '" + std::string(1, spec.type) + "' for a number");
  }
  if (value.is_integral() && spec.precision &&
      std::string_view("eEfFgG%").find(spec.type) == std::string_view::npos) {
    raise("a precision is not allowed when formatting an integer");
  }
  return format_number(heap, value, spec);
}

}  // namespace halogen::jinja
