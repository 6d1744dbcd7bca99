// The settings of [sampling]: a part of the schema in a file of its own.
#pragma once

#include <vector>

#include "core/config/setting.h"

namespace halogen {

void add_sampling(std::vector<Setting>& list);

}  // namespace halogen
