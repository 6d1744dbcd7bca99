// The replacement fields of str.format.
#include "core/text/template/brace_format.h"

#include "core/text/template/escape.h"
#include "core/text/template/format.h"
#include "core/text/template/literals.h"
#include "core/text/template/percent_format.h"

namespace halogen::jinja {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class BraceFormatter {
 public:
  BraceFormatter(Interpreter& interpreter, const Arguments& arguments, bool markup)
      : interpreter_(interpreter), arguments_(arguments), markup_(markup) {}

  std::string format(std::string_view text, int nesting);

 private:
  std::string replacement(std::string_view field, int nesting);
  Value resolve(std::string_view name);
  Value argument(std::string_view name);

  Interpreter& interpreter_;
  const Arguments& arguments_;
  bool markup_;
  std::size_t next_ = 0;   // for fields without a number
  bool numbered_ = false;  // fields with a number were seen; the two cannot be mixed
};

std::string BraceFormatter::format(std::string_view text, int nesting) {
  if (nesting > 2) raise("a format string nests too deeply");
  TextBuilder out(interpreter_.budget());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t brace = text.find_first_of("{}", at);
    out.append(text.substr(at, brace - at));
    if (brace == std::string_view::npos) break;
    if (brace + 1 < text.size() && text[brace + 1] == text[brace]) {
      out.append(1, text[brace]);
      at = brace + 2;
      continue;
    }
    if (text[brace] == '}') raise("a single '}' in a format string");
    int depth = 1;
    std::size_t end = brace + 1;
    for (; end < text.size() && depth > 0; ++end) {
      if (text[end] == '{') ++depth;
      if (text[end] == '}') --depth;
    }
    if (depth > 0) raise("a '{' in a format string is not closed");
    out.append(replacement(text.substr(brace + 1, end - brace - 2), nesting));
    at = end;
  }
  return out.take();
}

std::string BraceFormatter::replacement(std::string_view field, int nesting) {
  const std::size_t name_end = std::min(field.find_first_of("!:"), field.size());
  Value value = resolve(field.substr(0, name_end));
  std::string_view rest = field.substr(name_end);
  Budget& budget = interpreter_.budget();
  if (!rest.empty() && rest[0] == '!') {
    if (rest.size() < 2 || (rest.size() > 2 && rest[2] != ':'))
      raise("a malformed conversion in a format string");
    if (rest[1] == 'r' || rest[1] == 'a')
      value = interpreter_.heap().string(to_representation(budget, value));
    else if (rest[1] == 's')
      value = interpreter_.heap().string(to_text(budget, value));
    else
      raise("an unknown conversion in a format string: '" + std::string(rest.substr(0, 2)) + "'");
    rest.remove_prefix(2);
  }
  const std::string specification =
      rest.empty() ? std::string() : format(rest.substr(1), nesting + 1);
  std::string text = format_value(interpreter_.heap(), value, specification);
  if (!markup_ || value.is_markup()) return text;
  TextBuilder escaped(budget);
  append_escaped(escaped, text);
  return escaped.take();
}

Value BraceFormatter::argument(std::string_view name) {
  if (name.empty() || is_number(name)) {
    numbered_ |= !name.empty();
    if (numbered_ && (name.empty() || next_ > 0))
      raise("a format string numbers only some of its fields");
    const std::size_t index =
        name.empty() ? next_++ : static_cast<std::size_t>(parse_integer(name, 10).value_or(0));
    if (index >= arguments_.positional.size())
      raise("a format string wants more values than it got");
    return arguments_.positional[index];
  }
  for (const auto& [given, value] : arguments_.named) {
    if (given == name) return value;
  }
  raise("a format string names an unknown value: '" + std::string(name) + "'");
}

// "user.name[0]": an argument, and what to look up in it.
Value BraceFormatter::resolve(std::string_view name) {
  const std::size_t first = std::min(name.find_first_of(".["), name.size());
  Value value = argument(name.substr(0, first));
  name.remove_prefix(first);
  while (!name.empty()) {
    if (name[0] == '.') {
      const std::size_t end = std::min(name.find_first_of(".[", 1), name.size());
      value = interpreter_.attribute(value, name.substr(1, end - 1));
      name.remove_prefix(end);
      continue;
    }
    const std::size_t close = name.find(']');
    if (name[0] != '[' || close == std::string_view::npos)
      raise("a malformed name in a format string");
    const std::string_view key = name.substr(1, close - 1);
    value =
        interpreter_.item(value, is_number(key) ? Value::integer(parse_integer(key, 10).value_or(0))
                                                : interpreter_.heap().string(key));
    name.remove_prefix(close + 1);
  }
  return value;
}

}  // namespace

Value brace_format(Interpreter& interpreter, const Value& format, const Arguments& arguments) {
  BraceFormatter formatter(interpreter, arguments, format.is_markup());
  return interpreter.heap().string(formatter.format(format.as_text(), 0), format.is_markup());
}

}  // namespace halogen::jinja
