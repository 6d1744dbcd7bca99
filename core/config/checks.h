// What must hold between settings, once every one of them is valid by itself.
#pragma once

#include "core/config/problems.h"
#include "core/config/profile.h"

namespace halogen {

void check_profile(const Profile& profile, Problems& problems);

}  // namespace halogen
