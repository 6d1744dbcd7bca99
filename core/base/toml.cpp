// The library is built without exceptions here, so its errors are values. It bounds the nesting of
// arrays and inline tables itself, but not that of dotted keys: a key of a hundred thousand parts
// makes as many nested tables, whose destructor overflows the stack. So keys are measured before it
// sees them.
#include "core/base/toml.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/printable.h"

namespace halogen {
namespace {

constexpr std::size_t kMaxKeyDots = 32;

// Steps over the string that begins at `at` (a quote); counts the lines in it. Returns its end. An
// unterminated one ends with the text; the library words that error.
std::size_t skip_string(std::string_view text, std::size_t at, std::size_t& line) {
  const char quote = text[at];
  const std::string triple(3, quote);
  const bool multiline = text.substr(at, 3) == triple;
  at += multiline ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\n') {
      if (!multiline) return at;
      line++;
    }
    if (text[at] == '\\' && quote == '"') {
      at++;  // what follows is not the end; a line break there is still counted
      if (at < text.size() && text[at] != '\n') at++;
    } else if (!multiline && text[at] == quote) {
      return at + 1;
    } else if (multiline && text.substr(at, 3) == triple) {
      at += 3;  // up to two more quotes still belong to the string
      for (int more = 0; more < 2 && at < text.size() && text[at] == quote; more++) at++;
      return at;
    } else {
      at++;
    }
  }
  return text.size();
}

// The line of the first key, or dotted run of anything, with too many parts.
std::optional<std::size_t> find_too_deep_key(std::string_view text) {
  std::size_t line = 1;
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = skip_string(text, at, line);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++dots > kMaxKeyDots) return line;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '\n') line++;
    at++;
  }
  return std::nullopt;
}

}  // namespace

std::string at_line(const std::string& name, std::size_t line) {
  return name + ":" + std::to_string(line);
}

Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxTomlBytes) {
    return fail(HALOGEN_E_INVALID,
                name + ": larger than 1 MiB, which no profile is; is it the right file?");
  }
  if (const auto line = find_too_deep_key(text)) {
    return fail(HALOGEN_E_INVALID, at_line(name, *line) + ": a key of more than " +
                                       std::to_string(kMaxKeyDots + 1) + " parts");
  }
  toml::parse_result parsed = toml::parse(text, std::string_view(name));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(HALOGEN_E_INVALID, at_line(name, error.source().begin.line) +
                                       ": not valid TOML: " + printable(error.description()));
  }
  return std::move(parsed).table();
}

}  // namespace halogen
