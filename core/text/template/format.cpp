// Python's textual forms of numbers, strings and containers.
#include "core/text/template/format.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

std::string hexadecimal(char32_t value, std::size_t width) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(width, '0');
  for (std::size_t i = width; i > 0; --i, value >>= 4) text[i - 1] = kDigits[value & 0xF];
  return text;
}

void append_string_representation(TextBuilder& out, std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out.append(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_size(text, at);
    const char32_t c = code_point(text, at);
    if (c == static_cast<unsigned char>(quote) || c == '\\') {
      out.append(1, '\\').append(1, static_cast<char>(c));
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (is_printable(c)) {
      out.append(text.substr(at, size));
    } else if (c < 0x100) {
      out.append("\\x").append(hexadecimal(c, 2));
    } else if (c < 0x10000) {
      out.append("\\u").append(hexadecimal(c, 4));
    } else {
      out.append("\\U").append(hexadecimal(c, 8));
    }
    at += size;
  }
  out.append(1, quote);
}

void append_items(TextBuilder& out, Budget& budget, const std::vector<Value>& items) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) out.append(", ");
    first = false;
    append_representation(out, budget, item);
  }
}

void append_dict(TextBuilder& out, Budget& budget, const DictObject& dict) {
  out.append("{");
  bool first = true;
  for (const auto& entry : dict.entries) {
    if (!first) out.append(", ");
    first = false;
    append_representation(out, budget, entry.key);
    out.append(": ");
    append_representation(out, budget, entry.value);
  }
  out.append("}");
}

void append_view(TextBuilder& out, Budget& budget, const Value& value) {
  const DictViewObject& view = value.as_view();
  out.append(value.type_name()).append("([");
  bool first = true;
  for (const auto& entry : view.dict.entries) {
    if (!first) out.append(", ");
    first = false;
    const bool both = view.part == DictViewObject::Part::items;
    if (both) out.append("(");
    if (view.part != DictViewObject::Part::values) append_representation(out, budget, entry.key);
    if (both) out.append(", ");
    if (view.part != DictViewObject::Part::keys) append_representation(out, budget, entry.value);
    if (both) out.append(")");
  }
  out.append("])");
}

void append_range(TextBuilder& out, const RangeObject& range) {
  out.append("range(").append(std::to_string(range.start)).append(", ");
  out.append(std::to_string(range.stop));
  if (range.step != 1) out.append(", ").append(std::to_string(range.step));
  out.append(")");
}

}  // namespace

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string scientific(buffer, result.ptr);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 16) return scientific;  // its form is Python's, too
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string text(buffer, fixed.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

void append_text(TextBuilder& out, Budget& budget, const Value& value) {
  if (value.is(Kind::string)) {
    out.append(value.as_text());
  } else if (!value.is(Kind::undefined)) {
    append_representation(out, budget, value);
  }
}

void append_representation(TextBuilder& out, Budget& budget, const Value& value) {
  const DepthGuard guard(budget);
  budget.step();
  switch (value.kind()) {
    case Kind::undefined:
      out.append("Undefined");
      break;
    case Kind::none:
      out.append("None");
      break;
    case Kind::boolean:
      out.append(value.as_integer() != 0 ? "True" : "False");
      break;
    case Kind::integer:
      out.append(std::to_string(value.as_integer()));
      break;
    case Kind::real:
      out.append(real_text(value.as_real()));
      break;
    case Kind::string:
      if (value.is_markup()) out.append("Markup(");
      append_string_representation(out, value.as_text());
      if (value.is_markup()) out.append(")");
      break;
    case Kind::list:
      out.append("[");
      append_items(out, budget, value.as_sequence().items);
      out.append("]");
      break;
    case Kind::tuple:
      out.append("(");
      append_items(out, budget, value.as_sequence().items);
      out.append(value.as_sequence().items.size() == 1 ? ",)" : ")");
      break;
    case Kind::dict:
      append_dict(out, budget, value.as_dict());
      break;
    case Kind::dict_view:
      append_view(out, budget, value);
      break;
    case Kind::range:
      append_range(out, value.as_range());
      break;
    case Kind::iterator:
      out.append("<").append(value.type_name()).append(" object>");
      break;
    case Kind::native:
      if (DictObject* attributes = value.as_native().assignable()) {
        out.append("<Namespace ");
        append_dict(out, budget, *attributes);
        out.append(">");
      } else {
        out.append(value.as_native().representation());
      }
      break;
  }
}

std::string to_text(Budget& budget, const Value& value) {
  TextBuilder out(budget);
  append_text(out, budget, value);
  return out.take();
}

std::string to_representation(Budget& budget, const Value& value) {
  TextBuilder out(budget);
  append_representation(out, budget, value);
  return out.take();
}

}  // namespace halogen::jinja
