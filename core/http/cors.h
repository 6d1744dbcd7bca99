// Which web pages of other origins may use this server from a browser.
// Source: the Fetch standard, "CORS protocol"; the draft "Private Network Access".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/http/refusal.h"
#include "core/http/request.h"

namespace halogen::http {

class CorsPolicy {
 public:
  // Nobody: no field is added to any response.
  CorsPolicy() = default;

  // Each entry is "*" (any page), "same-host" (pages of the host that the request is addressed to,
  // on any port, where that is an address or a name of a local network), "null" (pages without an
  // origin, such as local files), or an origin like "https://chat.example.org", where one "*"
  // stands for any part of the host's name and ":*" at the end for any port or none.
  // HALOGEN_E_INVALID names an entry that is none of these.
  static Result<CorsPolicy> parse(const std::vector<std::string>& entries);

  // `host` is the request's Host field.
  bool allows(std::string_view origin, std::string_view host) const;

  // Why a page may not send this request. A browser asks before it lets a page of another origin
  // send most requests, but sends a POST with plain text at once; and a page whose name's address
  // changed to this server's needs no leave to read the answer.
  std::optional<Refusal> refuse(const Request& request) const;

  // Adds the fields, each with its line end, that the response to `request` needs: errors as well
  // as answers, since a browser hides from its page what comes without them. Credentials are never
  // allowed: keys travel in a header that the page sets itself, and cookies mean nothing here.
  void append_fields(std::string& out, const Request& request) const;

 private:
  struct Pattern {
    std::string text;  // without the port where any is allowed
    bool any_port = false;
  };
  std::vector<Pattern> patterns_;
  bool everyone_ = false;
  bool same_host_ = false;
};

// A browser's question whether its page may send the request that it describes.
bool is_preflight(const Request& request);

}  // namespace halogen::http
