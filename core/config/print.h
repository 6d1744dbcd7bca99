// The effective profile as TOML, with the origin of every value in a comment.
#pragma once

#include <string>

#include "core/config/profile.h"

namespace halogen {

// [any] A TOML file that loads as the same profile, except that secrets are left out: a comment
// says how many there are.
std::string effective_toml(const Profile& profile);

}  // namespace halogen
