// The plugins that could be loaded: every manifest on the search path. Reading it opens no object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/host/manifest.h"
#include "core/host/search_path.h"

namespace halogen {

struct CatalogueEntry {
  Manifest manifest;
  std::filesystem::path library;  // absolute; where it should be, if it is missing
  std::string origin;             // of the folder: "administrator", "build tree"
  bool library_exists = false;
};

struct BrokenManifest {
  std::filesystem::path path;
  std::string origin;
  std::string message;  // begins with file and line
};

struct Catalogue {
  std::vector<CatalogueEntry> entries;  // one for each id, in the order of the search path
  std::vector<BrokenManifest> broken;
  std::vector<std::string> warnings;  // broken manifests, ids and names that hide one another
  std::vector<PluginFolder> searched;

  // [any] `name` is a name that a manifest provides for `kind`, or a plugin's id. Errors:
  // HALOGEN_E_NOT_FOUND lists what there is of this kind, where was searched, and what to install.
  Result<const CatalogueEntry*> find(std::string_view kind, std::string_view name) const;
};

// [worker] Reads the manifests (*.toml) of all folders. A folder that does not exist is no error,
// nor is a broken manifest, as long as nobody asks for its plugin.
Catalogue read_catalogue(std::vector<PluginFolder> folders);

}  // namespace halogen
