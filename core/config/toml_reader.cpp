#include "core/config/toml_reader.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "core/base/toml.h"

namespace halogen {
namespace {

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
  const Result<toml::table> parsed = parse_toml(text, name);
  if (!parsed) return parsed.error();
  std::vector<RawEntry> entries;
  std::vector<std::string> path;
  flatten(*parsed, name, path, entries);
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
    text.resize(kMaxTomlBytes + 1);
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
