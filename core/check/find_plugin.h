// The plugin that a command line names.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/host/catalogue.h"

namespace halogen::check {

// [worker] `name` is a manifest (*.toml), a shared object with its manifest beside it, a plugin's
// id, or what a manifest on the search path provides for some kind ("cpu"). Errors:
// HALOGEN_E_NOT_FOUND lists what there is.
Result<CatalogueEntry> find_plugin(const std::string& name, std::vector<PluginFolder> folders);

}  // namespace halogen::check
