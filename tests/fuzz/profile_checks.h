// What holds for every profile that loads, and for every refusal.
#pragma once

#include <string>
#include <vector>

#include "core/config/load.h"
#include "core/config/print.h"
#include "core/config/profile_diff.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

namespace halogen::fuzz {

inline Environment no_environment() {
  return [](const char*) { return std::nullopt; };
}

inline Result<Profile> load_file(const MemoryFile& file) {
  return load_profile(std::vector<std::string>{"--config", file.path()}, no_environment(), "");
}

// A printed profile loads as the same one; secrets are not printed.
inline void check_profile_survives_printing(const Profile& profile) {
  static MemoryFile file;
  const std::string printed = effective_toml(profile);
  file.write(printed);
  const auto again = load_file(file);
  require(again.ok(), "a printed profile loads", again.ok() ? "" : again.error().message);
  for (const ProfileChange& change : diff_profiles(profile, *again)) {
    require(change.key == "server.api_keys", "a printed profile loads as the same one",
            change.key + ": " + change.old_value + " became " + change.new_value);
  }
}

// Every line of a refusal is a sentence of its own.
inline void check_refusal(const std::string& message) {
  require(!message.empty(), "an error says something");
  for (std::string_view rest = message; !rest.empty();) {
    const Halves halves = split_once(rest, "\n");
    require(is_one_clean_line(halves.first), "every line of an error is text", message);
    rest = halves.second;
  }
}

}  // namespace halogen::fuzz
