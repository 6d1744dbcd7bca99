// Values as a TOML file has them, before anybody knows what they should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halogen {

// What no setting takes: a date, an array that is not of strings, an empty table.
struct OtherToml {
  std::string what;  // "a table", "a date", "an array of numbers"
  bool is_table = false;
};

using RawValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, OtherToml>;

struct RawEntry {
  std::vector<std::string> path;  // {"server", "port"}
  RawValue value;
  std::string where;  // "/etc/halogen/halogen.toml:12"
  std::size_t line = 0;
};

// [any] The path as TOML spells it: server.port, backend."com.example.fast".threads.
std::string dotted(const std::vector<std::string>& path);

// [any] A TOML basic string with quotes and escapes.
std::string quote_toml(std::string_view text);

// [any] The value as TOML; a table or date as a word in angle brackets. For messages and printing.
std::string format_raw(const RawValue& value);

}  // namespace halogen
