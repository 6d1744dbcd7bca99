// JSON in and out of templates: the values of a request, and the `tojson` filter.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/text/template/value.h"

namespace halogen::jinja {

// A JSON value as a template value; objects keep their order.
Value from_json(Heap& heap, const nlohmann::ordered_json& json);

// The parameters of Python's json.dumps that transformers lets templates choose.
struct JsonStyle {
  bool ascii = false;                 // write everything above ASCII as \uXXXX
  std::optional<std::string> indent;  // one level's; absent: everything on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};

// Throws Failure for what JSON cannot say: undefined values, iterators, functions.
std::string to_json(Heap& heap, const Value& value, const JsonStyle& style);

}  // namespace halogen::jinja
