#include "core/http/request.h"

#include <algorithm>

#include "core/base/text.h"

namespace halogen::http {

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

bool list_contains(std::string_view value, std::string_view token) {
  while (!value.empty()) {
    const size_t comma = std::min(value.find(','), value.size());
    if (equals_ignoring_case(trimmed(value.substr(0, comma)), token)) return true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return false;
}

std::pair<std::string_view, std::string_view> HeaderMap::at(size_t index) const {
  const Field& field = fields_[index];
  const std::string_view text = text_;
  return {text.substr(field.begin, field.name_size),
          trimmed(text.substr(field.begin + field.name_size, field.value_size))};
}

std::string_view HeaderMap::get(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    auto [field, value] = at(i);
    if (equals_ignoring_case(field, name)) return value;
  }
  return {};
}

size_t HeaderMap::count(std::string_view name) const {
  size_t found = 0;
  for (size_t i = 0; i < fields_.size(); ++i) found += equals_ignoring_case(at(i).first, name);
  return found;
}

void HeaderMap::extend_name(std::string_view piece) {
  text_.append(piece);
  fields_.back().name_size += static_cast<uint32_t>(piece.size());
}

void HeaderMap::extend_value(std::string_view piece) {
  text_.append(piece);
  fields_.back().value_size += static_cast<uint32_t>(piece.size());
}

std::optional<std::string_view> Request::query_value(std::string_view name) const {
  for (const QueryParameter& parameter : query) {
    if (parameter.name == name) return parameter.value;
  }
  return std::nullopt;
}

}  // namespace halogen::http
