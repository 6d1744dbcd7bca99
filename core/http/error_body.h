// The JSON in which halogen reports errors: the shape that OpenAI's clients know.
#pragma once

#include <string>
#include <string_view>

namespace halogen::http {

// {"error":{"message":…,"type":…,"param":null,"code":…}}; an empty code becomes null. Bytes of
// `message` that are not UTF-8 are replaced.
std::string error_body(std::string_view message, std::string_view type, std::string_view code);

// The type that goes with a status: "authentication_error" for 401, "rate_limit_error" for 429,
// else "invalid_request_error" below 500 and "server_error" from there on.
std::string_view error_type(int status);

}  // namespace halogen::http
