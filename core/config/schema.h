// The list of all settings. TOML validation, flags, --help, the reference documentation and the
// difference of two profiles all come from it; adding a setting is adding a member to Profile and
// an entry here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config/setting.h"

namespace halogen {

// A table of the TOML file and a heading of --help.
struct Section {
  std::string_view table;  // "server"
  std::string_view title;  // "HTTP server"
  std::string_view help;   // sentences for the reference
};

// [any] The tables in the order in which help and documentation show them.
std::span<const Section> sections();

// [any] All settings, those of a table together and in the tables' order.
std::span<const Setting> settings();

// [any] The setting with this key; null if there is none.
const Setting* find_setting(std::string_view key);

// [any] The key that a misspelt one most likely means; empty if none is near. Looks at whole keys,
// at names in another table (`port` outside [server]) and at flags written as keys
// (`max_num_seqs`).
std::string_view nearest_key(std::string_view key);

// [any] Whether [`table`.NAME] belongs to a plugin of that name.
bool is_plugin_kind(std::string_view table);

}  // namespace halogen
