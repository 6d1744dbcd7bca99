// Who may use the API: clients that know one of its keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/http/request.h"

namespace halogen::api {

class ApiKeys {
 public:
  // None: every client is let in.
  explicit ApiKeys(std::vector<std::string> keys) : keys_(std::move(keys)) {}

  bool empty() const { return keys_.empty(); }

  // [any] True where the request carries a key, as "Authorization: Bearer KEY" or as "x-api-key:
  // KEY", or where none is asked for. How long this takes says nothing about the keys but how many
  // there are and how long they are.
  bool admit(const http::Request& request) const;

 private:
  bool known(std::string_view candidate) const;

  std::vector<std::string> keys_;
};

// [worker] The keys in a file, one a line; blank lines and lines that begin with '#' are passed
// over. An error names the file: unreadable, without a key, or with a line that no header could
// carry.
Result<std::vector<std::string>> read_api_keys(const std::string& path);

}  // namespace halogen::api
