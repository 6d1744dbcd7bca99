// `halogen plugins inspect`: what a plugin's file is, and whether this halogen would take it, found
// without loading it. The file may be damaged or hostile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/host/manifest.h"
#include "core/host/plugin_file.h"

namespace halogen {

struct Inspection {
  std::filesystem::path library;
  std::optional<Manifest> manifest;
  std::string machine;                           // "x86-64"; empty where the file is no object
  std::optional<PluginDescription> description;  // nothing where it has no entry
  std::vector<std::string> needed;               // libraries
  std::vector<std::string> missing_libraries;    // of those, and of those that they need
  std::vector<std::string> undefined;      // symbols that no needed library defines, nor halogen
  std::vector<std::string> other_exports;  // symbols beside the entry
  std::vector<std::string> stays_mapped;   // what will keep it in memory after it is closed

  std::vector<std::string> problems;  // why it would be refused, or not work
  std::vector<std::string> remarks;   // what its author may want to change
  bool entry_readable = true;         // false: only loading it tells whether it works
  bool refused() const { return !problems.empty(); }
  bool usable() const { return problems.empty() && entry_readable; }
};

// [worker] `file` is a shared object or a manifest (*.toml). For an object, `manifest` names the
// one to compare it with; where that is empty, one beside it or on the search path counts that
// names the object. Errors: a file that cannot be read, a manifest that is broken.
Result<Inspection> inspect_plugin(const std::filesystem::path& file,
                                  const std::filesystem::path& manifest);

}  // namespace halogen
