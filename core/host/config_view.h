// The settings handed to a plugin's create call: the operator's table, checked against the keys
// that the factory lists, and completed with their defaults.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "halogen/config.h"

#include "core/base/result.h"

namespace halogen {

// One key of the operator's table, as it was written.
struct ConfigEntry {
  std::string key;
  std::variant<bool, int64_t, double, std::string> value;
  std::string where;  // "halogen.toml:12"
};

class ConfigView {
 public:
  // [any] Checks `entries` against `keys` (static data of a loaded plugin, used in the call only).
  // `table` is how the profile calls the table ("backend.cpu"), for messages. An integer does for a
  // float, and "64M" or an integer for a size (K, M, G, T: powers of 1024). HALOGEN_E_INVALID with
  // a line for every mistake, in the order of the entries, each with its place and the nearest key.
  static Result<ConfigView> make(std::string_view table, std::span<const ConfigEntry> entries,
                                 std::span<const halogen_config_key* const> keys);

  ConfigView(ConfigView&&) noexcept;
  ConfigView& operator=(ConfigView&&) noexcept;
  ~ConfigView();

  // [any] For the create call; valid as long as the view, wherever that is moved.
  const halogen_config* config() const;

 private:
  struct State;
  explicit ConfigView(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace halogen
