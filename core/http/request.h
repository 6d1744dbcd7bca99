// A complete HTTP request as the parser leaves it: plain data, owned by whoever holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halogen::http {

// Header fields in the order they were sent. All text lies in one buffer, so that a request's
// headers cost two allocations however many there are.
class HeaderMap {
 public:
  // The value of the first field called `name` (compared without regard to case), without
  // surrounding blanks; empty when there is none. The view lives as long as the map is unchanged.
  std::string_view get(std::string_view name) const;
  size_t count(std::string_view name) const;
  bool contains(std::string_view name) const { return count(name) != 0; }

  size_t size() const { return fields_.size(); }
  std::pair<std::string_view, std::string_view> at(size_t index) const;

  // Building, as a parser sees fields: in pieces, name before value.
  void open_field() { fields_.push_back({static_cast<uint32_t>(text_.size()), 0, 0}); }
  void extend_name(std::string_view piece);
  void extend_value(std::string_view piece);

 private:
  struct Field {
    uint32_t begin;  // of the name in text_; the value follows it
    uint32_t name_size;
    uint32_t value_size;
  };
  std::string text_;
  std::vector<Field> fields_;
};

struct QueryParameter {
  std::string name;
  std::string value;
};

struct Request {
  std::string_view method;            // "GET", "POST"; static storage
  std::string target;                 // as sent: "/v1/models?limit=2"
  std::string path;                   // percent-decoded, without the query: "/v1/models"
  std::vector<QueryParameter> query;  // decoded, in order; "+" is a blank
  HeaderMap headers;
  std::string body;  // the chunked coding is already removed
  std::string peer;  // "192.0.2.7:51234", "[2001:db8::7]:51234"
  bool http_1_0 = false;

  // The first value of a query parameter, if it was given.
  std::optional<std::string_view> query_value(std::string_view name) const;
};

// ASCII comparison without regard to case, as header names and tokens want it.
bool equals_ignoring_case(std::string_view a, std::string_view b);

// True when `token` is an element of the comma-separated list `value` ("keep-alive, Upgrade").
bool list_contains(std::string_view value, std::string_view token);

}  // namespace halogen::http
