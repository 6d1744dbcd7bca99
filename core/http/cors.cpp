#include "core/http/cors.h"

#include <algorithm>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "core/base/text.h"

namespace halogen::http {

namespace {

// What a page may read besides the few fields that every page may.
constexpr std::string_view kExposed = "Access-Control-Expose-Headers: Retry-After\r\n";
constexpr std::string_view kPreflight =
    "Access-Control-Allow-Methods: GET, HEAD, POST, OPTIONS\r\n"
    "Access-Control-Max-Age: 7200\r\n";  // seconds; the most that Chromium takes

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = halogen::lower_case(c);
  return lower;
}

// "http://[::1]:80" is split into "http", "[::1]" and "80".
struct Origin {
  std::string_view scheme;
  std::string_view host;
  std::string_view port;
};

// The host and port of "example.org:80" or "[::1]:80".
void split_port(std::string_view authority, std::string_view& host, std::string_view& port) {
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  host = authority.substr(0, has_port ? colon : authority.size());
  port = has_port ? authority.substr(colon + 1) : std::string_view();
}

bool split_origin(std::string_view text, Origin& origin) {
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return false;
  origin.scheme = text.substr(0, scheme);
  split_port(text.substr(scheme + 3), origin.host, origin.port);
  return !origin.host.empty();
}

// "*", of which there is at most one, stands for at least one character of a host's name.
bool matches(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  if (text.size() <= before.size() + after.size()) return false;
  const std::string_view taken =
      text.substr(before.size(), text.size() - before.size() - after.size());
  return text.starts_with(before) && text.ends_with(after) &&
         taken.find_first_of(":/") == std::string_view::npos;
}

// Whether nobody can make `host` point at this server from the public name system: addresses, names
// without a dot, and those of RFC 6762. A page whose name is made to do so, from one moment to the
// next, has the same host as the server that it asks then.
bool is_local(std::string_view host) {
  constexpr std::string_view kLocal = ".local";
  if (host.find('.') == std::string_view::npos) return true;  // "[::1]" too
  in_addr address;
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 ||
         (host.size() > kLocal.size() &&
          equals_ignoring_case(host.substr(host.size() - kLocal.size()), kLocal));
}

bool is_port(std::string_view text) {
  return text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<CorsPolicy> CorsPolicy::parse(const std::vector<std::string>& entries) {
  CorsPolicy policy;
  for (const std::string& entry : entries) {
    if (entry == "*") {
      policy.everyone_ = true;
    } else if (entry == "same-host") {
      policy.same_host_ = true;
    } else if (entry == "null") {
      policy.patterns_.push_back({entry, false});
    } else {
      Origin origin;
      const bool well_formed = split_origin(entry, origin) &&
                               origin.host.find_first_of("/?#@ \t") == std::string_view::npos &&
                               origin.scheme.find('*') == std::string_view::npos &&
                               std::count(origin.host.begin(), origin.host.end(), '*') <= 1 &&
                               (origin.port == "*" || is_port(origin.port));
      if (!well_formed) {
        return fail(HALOGEN_E_INVALID, "\"" + entry +
                                           "\": expected an origin like https://chat.example.org, "
                                           "https://*.example.org (one *) or http://localhost:*, "
                                           "or \"same-host\", \"null\" or \"*\"");
      }
      const bool any_port = origin.port == "*";
      policy.patterns_.push_back(
          {lower_case(any_port ? std::string_view(entry).substr(0, entry.size() - 2) : entry),
           any_port});
    }
  }
  return policy;
}

bool CorsPolicy::allows(std::string_view text, std::string_view host) const {
  if (everyone_) return true;
  Origin origin;
  const bool has_host = split_origin(text, origin);
  if (same_host_ && has_host && origin.scheme.starts_with("http")) {
    std::string_view own_host, own_port;
    split_port(host, own_host, own_port);
    if (equals_ignoring_case(origin.host, own_host) && is_local(own_host)) return true;
  }
  const bool any_port_fits = has_host && is_port(origin.port);
  const size_t port_size = origin.port.empty() ? 0 : origin.port.size() + 1;
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    if (!pattern.any_port) return matches(pattern.text, text);
    return any_port_fits && matches(pattern.text, text.substr(0, text.size() - port_size));
  });
}

std::optional<Refusal> CorsPolicy::refuse(const Request& request) const {
  const std::string_view origin = request.headers.get("Origin");
  if (request.method != "POST" || origin.empty() || allows(origin, request.headers.get("Host"))) {
    return std::nullopt;
  }
  return Refusal{403,
                 "origin_not_allowed",
                 "pages of this request's Origin may not use this server; its operator can allow "
                 "the origin with server.cors_origins",
                 {}};
}

void CorsPolicy::append_fields(std::string& out, const Request& request) const {
  if (!everyone_) {
    if (!same_host_ && patterns_.empty()) return;
    out.append("Vary: Origin\r\n");  // whoever has sent none may share a cache with one who has
  }
  const std::string_view origin = request.headers.get("Origin");
  if (origin.empty() || !allows(origin, request.headers.get("Host"))) return;
  out.append("Access-Control-Allow-Origin: ").append(everyone_ ? "*" : origin).append("\r\n");
  if (!is_preflight(request)) {
    out.append(kExposed);
    return;
  }
  out.append(kPreflight);
  const std::string_view wanted = request.headers.get("Access-Control-Request-Headers");
  if (!wanted.empty()) out.append("Access-Control-Allow-Headers: ").append(wanted).append("\r\n");
  if (request.headers.get("Access-Control-Request-Private-Network") == "true") {
    out.append("Access-Control-Allow-Private-Network: true\r\n");
  }
}

bool is_preflight(const Request& request) {
  return request.method == "OPTIONS" && request.headers.contains("Origin") &&
         request.headers.contains("Access-Control-Request-Method");
}

}  // namespace halogen::http
