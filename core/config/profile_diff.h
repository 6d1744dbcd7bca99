// What changed between two profiles, and what each change takes: the plan of a reload.
#pragma once

#include <string>
#include <vector>

#include "core/config/profile.h"
#include "core/config/setting.h"

namespace halogen {

struct ProfileChange {
  std::string key;        // "engine.batch_size"; "backend.cpu.threads" for a plugin's own
  std::string old_value;  // as TOML; empty where a plugin's key was not there. Secrets: "(hidden)"
  std::string new_value;
  Change change = Change::live;
};

// [any] The settings whose values differ, in the schema's order, then the plugins' own keys.
// Origins do not count. A plugin's key is a transition: only the plugin knows better.
std::vector<ProfileChange> diff_profiles(const Profile& before, const Profile& after);

// [any] "live", "transition" or "restart".
std::string_view change_name(Change change);

}  // namespace halogen
