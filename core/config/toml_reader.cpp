// The library is built without exceptions here, so its errors are values. It bounds the nesting of
// arrays and inline tables itself, but not that of dotted keys: a key of a hundred thousand parts
// makes as many nested tables, whose destructor overflows the stack. So keys are measured before it
// sees them.
#include "core/config/toml_reader.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

// The library asserts what it has not checked yet: "[=" aborts in a debug build, and with NDEBUG
// the assertion becomes an assumption for the optimiser, which then drops the branch that reports
// the error. Without either, that branch runs.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 32  // times kMaxKeyDots bounds the depth of everything that recurses
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

namespace halogen {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxKeyDots = 32;

std::string at_line(const std::string& name, std::size_t line) {
  return name + ":" + std::to_string(line);
}

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

std::string describe(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time";
    case toml::node_type::date_time:
      return "a date and time";
    default:
      return "an array that is not of texts";
  }
}

RawValue convert(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* array = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *array)
      if (const auto* text = item.as_string()) items.push_back(text->get());
    if (items.size() == array->size()) return items;
  }
  return OtherToml{describe(node), node.is_table()};
}

void flatten(const toml::table& table, const std::string& name, std::vector<std::string>& path,
             std::vector<RawEntry>& entries) {
  for (const auto& [key, node] : table) {
    path.emplace_back(key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && !inner->empty()) {
      flatten(*inner, name, path, entries);
    } else {
      const std::size_t line = key.source().begin.line;
      entries.push_back({path, convert(node), at_line(name, line), line});
    }
    path.pop_back();
  }
}

}  // namespace

Result<std::vector<RawEntry>> read_toml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxBytes) {
    return fail(HALOGEN_E_INVALID,
                name + ": larger than 1 MiB, which no profile is; is it the right file?");
  }
  if (const auto line = find_too_deep_key(text)) {
    return fail(HALOGEN_E_INVALID, at_line(name, *line) + ": a key of more than " +
                                       std::to_string(kMaxKeyDots + 1) + " parts");
  }
  const toml::parse_result parsed = toml::parse(text, std::string_view(name));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(HALOGEN_E_INVALID, at_line(name, error.source().begin.line) +
                                       ": not valid TOML: " + std::string(error.description()));
  }
  std::vector<RawEntry> entries;
  std::vector<std::string> path;
  flatten(parsed.table(), name, path, entries);
  std::sort(entries.begin(), entries.end(), [](const RawEntry& a, const RawEntry& b) {
    return a.line != b.line ? a.line < b.line : a.path < b.path;
  });
  return entries;
}

Result<std::vector<RawEntry>> read_toml_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(kMaxBytes + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    const int reason = errno;
    return fail(reason == ENOENT ? HALOGEN_E_NOT_FOUND : HALOGEN_E_IO,
                path + ": cannot be read: " + std::generic_category().message(reason));
  }
  return read_toml(text, path);
}

}  // namespace halogen
