// The description of one setting, and the conversions between text, TOML and typed values that
// follow from it. schema.cpp lists all settings; everything else in this room works from that list.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/config/profile.h"
#include "core/config/raw_value.h"
#include "core/config/units.h"

namespace halogen {

// What it takes for a new value to count while the server runs.
enum class Change {
  live,        // the next step or request uses it
  transition,  // a plugin, the pool or the model is replaced while requests go on
  restart,     // the process has to be started again
};

enum class Type { boolean, integer, number, text, size, duration, choice, list };

// A typed value; a choice is the number of its enumerator.
using Value = std::variant<bool, std::int64_t, double, std::string, ByteSize,
                           std::chrono::milliseconds, std::vector<std::string>>;

// The member of Profile behind a setting. Its C++ type decides the setting's type.
struct Member {
  Type type = Type::boolean;
  Value (*get)(const Profile&) = nullptr;
  void (*set)(Profile&, Value) = nullptr;
};

template <typename T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Type::boolean;
  else if constexpr (std::is_enum_v<T>)
    return Type::choice;
  else if constexpr (std::is_integral_v<T>)
    return Type::integer;
  else if constexpr (std::is_same_v<T, double>)
    return Type::number;
  else if constexpr (std::is_same_v<T, std::string>)
    return Type::text;
  else if constexpr (std::is_same_v<T, ByteSize>)
    return Type::size;
  else if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
    return Type::duration;
  else if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return Type::list;
}

// `access` is a lambda without captures that returns a reference to the member:
// member([](auto& p) -> auto& { return p.server.port; }).
template <typename Access>
Member member(Access) {
  using T = std::remove_cvref_t<decltype(Access{}(std::declval<Profile&>()))>;
  constexpr Type type = type_of<T>();
  return Member{type,
                [](const Profile& profile) -> Value {
                  const T& held = Access{}(profile);
                  if constexpr (type == Type::integer || type == Type::choice)
                    return static_cast<std::int64_t>(held);
                  else
                    return held;
                },
                [](Profile& profile, Value value) {
                  if constexpr (type == Type::integer || type == Type::choice)
                    Access{}(profile) = static_cast<T>(std::get<std::int64_t>(value));
                  else
                    Access{}(profile) = std::get<T>(std::move(value));
                }};
}

// One accepted word of a choice. Several words may mean the same enumerator; the first is its name.
struct Choice {
  std::string_view word;
  std::int64_t value = 0;
  std::string_view comes_with = {};  // not empty: refused until this feature arrives
};

struct Setting {
  std::string_view key = {};                 // "server.port"
  std::vector<std::string_view> flags = {};  // "--port"; the first is the one that help shows
  std::string_view value_name = {};          // what help calls the value: "PORT"
  std::string_view help = {};                // sentences, without default and range
  Change change = Change::restart;
  Member member = {};

  // Integers, numbers, sizes in bytes and durations in ms; both ends belong to the range.
  double least = 0;
  double most = std::numeric_limits<double>::max();
  bool above_least = false;           // `least` itself is out of range
  bool accepts_share = false;         // sizes: a percentage is accepted
  bool accepts_auto = false;          // "auto" is accepted and means the default
  bool power_of_two = false;          // integers
  std::vector<Choice> choices = {};   // words of a choice
  std::string_view alone = {};        // a choice's word where its flag has none
  std::string_view environment = {};  // a variable that sets it; lists are separated by colons
  std::string_view comes_with = {};   // not empty: only the default is accepted until this arrives
  std::string_view without_effect_on_cpu = {};  // why the CPU backend has no use for it
  bool secret = false;                          // never printed

  Type type() const { return member.type; }
  std::string_view table() const { return key.substr(0, key.find('.')); }
  std::string_view name() const { return key.substr(key.find('.') + 1); }
};

// [any] What the setting takes, for messages and documentation: "a whole number from 0 to 65535".
std::string expectation(const Setting& setting);

// [any] The value of a flag's text. The message says what is wrong with the value and
// what is expected, not where it came from. UNSUPPORTED: valid, but its feature comes later.
Result<Value> value_from_text(const Setting& setting, std::string_view text);

// [any] The same for an environment variable, where colons separate the items of a list.
Result<Value> value_from_environment(const Setting& setting, std::string_view text);

// [any] The same for a value of a TOML file.
Result<Value> value_from_toml(const Setting& setting, const RawValue& raw);

// [any] The value as TOML that value_from_toml reads back: `8080`, `"96G"`, `["a", "b"]`.
std::string format_toml(const Setting& setting, const Value& value);

// [any] The value as a flag's argument: 8080, 96G, on.
std::string format_text(const Setting& setting, const Value& value);

// [any] The setting's value in a profile that nobody changed.
Value default_value(const Setting& setting);

}  // namespace halogen
