// Where manifests are looked for.
//
// In this order, the first folder that has a plugin's id being the one that counts:
//   1. HALOGEN_PLUGIN_PATH, folders separated by colons
//   2. the profile's plugins.path
//   3. /etc/halogen/plugins, the administrator's
//   4. <prefix>/share/halogen/plugins, the packages', where the executable is <prefix>/bin/halogen
//   5. <build>/plugins, where the executable lies in a build tree (a folder with a CMakeCache.txt)
// Never the working directory: a relative entry is an error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace halogen {

struct PluginFolder {
  std::filesystem::path manifests;
  // Where a manifest's relative library is looked for when it isn't beside the manifest; may be
  // empty.
  std::filesystem::path libraries;
  std::string origin;  // "HALOGEN_PLUGIN_PATH", "plugins.path", "administrator", …
};

struct SearchPathInputs {
  std::string environment;           // the value of HALOGEN_PLUGIN_PATH, or empty
  std::vector<std::string> profile;  // plugins.path
  std::filesystem::path executable;  // absolute, symbolic links resolved
  std::filesystem::path administrator = "/etc/halogen/plugins";
};

// [any] This process' environment and executable, with the profile's folders.
SearchPathInputs search_path_inputs(std::vector<std::string> profile);

// [any] Folders need not exist. Errors: HALOGEN_E_INVALID for a relative entry.
Result<std::vector<PluginFolder>> make_search_path(const SearchPathInputs& inputs);

}  // namespace halogen
