// Asks Jinja2 itself, through oracle.py, what templates render to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace halogen::test {

struct OracleCase {
  std::size_t source = 0;  // index into the sources
  nlohmann::ordered_json context = nlohmann::ordered_json::object();
};

struct OracleAnswer {
  std::optional<std::string> text;  // absent when Jinja2 failed
  std::string error;
};

// The answers to all cases, or absent when there is no Python with Jinja2.
std::optional<std::vector<OracleAnswer>> ask_oracle(const std::vector<std::string>& sources,
                                                    const std::vector<OracleCase>& cases);

}  // namespace halogen::test
