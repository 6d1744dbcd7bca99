// The text of `halogen plugins`.
#pragma once

#include <string>
#include <vector>

#include "core/host/registry.h"

namespace halogen {

// [any] A paragraph for each plugin: what it is, where it comes from, and how it stands.
std::string describe(const std::vector<PluginInfo>& plugins);

}  // namespace halogen
