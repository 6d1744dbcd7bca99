#include "core/api/api_keys.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/text.h"

namespace halogen::api {
namespace {

// Takes the same time whatever the two have in common.
bool same_secret(std::string_view key, std::string_view candidate) {
  unsigned difference = key.size() == candidate.size() ? 0 : 1;
  for (size_t i = 0; i < key.size(); i++) {
    difference |=
        static_cast<unsigned char>(key[i]) ^
        static_cast<unsigned char>(candidate.empty() ? 0 : candidate[i % candidate.size()]);
  }
  return difference == 0;
}

// The token of "Bearer TOKEN"; empty for any other scheme.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  if (!http::equals_ignoring_case(authorization.substr(0, scheme.size()), scheme)) return {};
  const size_t token = authorization.find_first_not_of(' ', scheme.size());
  return token == std::string_view::npos ? std::string_view() : authorization.substr(token);
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

bool ApiKeys::admit(const http::Request& request) const {
  if (keys_.empty()) return true;
  const bool by_token = known(bearer_token(request.headers.get("Authorization")));
  const bool by_field = known(request.headers.get("x-api-key"));
  return by_token || by_field;
}

bool ApiKeys::known(std::string_view candidate) const {
  bool found = false;
  for (const std::string& key : keys_) found |= same_secret(key, candidate);
  return found;
}

Result<std::vector<std::string>> read_api_keys(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> keys;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    number++;
    const std::string_view key = trimmed(line, " \t\r");
    if (key.empty() || key.front() == '#') continue;
    if (!is_visible(key)) {
      return fail(HALOGEN_E_INVALID, path + ":" + std::to_string(number) +
                                         ": an API key is made of visible ASCII characters");
    }
    keys.emplace_back(key);
  }
  if (!file.eof()) {
    return fail(HALOGEN_E_IO, path + ": cannot read the API keys: " + std::strerror(errno));
  }
  if (keys.empty()) {
    return fail(HALOGEN_E_INVALID,
                path + ": there is no API key; write one a line, or name no file to ask for none");
  }
  return keys;
}

}  // namespace halogen::api
