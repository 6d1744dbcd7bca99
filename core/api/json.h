// JSON as the API uses it: order is kept, because a tool's schema reaches the model as it was
// written.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/result.h"

namespace halogen::api {

using Json = nlohmann::ordered_json;

// [any] Parses a request's body, in time that grows as the text does. Nesting is limited, so that
// nobody's template recurses without end, and so are the keys of an object, so that looking one up
// stays cheap. Of several keys of the same name the last counts. The error says what is wrong and
// where.
Result<Json> parse_json(std::string_view text);

// [any] What a client sent, as an error repeats it: cut after about a hundred bytes.
std::string shown_text(std::string_view text);
std::string shown(const Json& json);

// [any] Compact text; bytes that are not UTF-8 become U+FFFD.
std::string to_text(const Json& json);

}  // namespace halogen::api
