#include "core/check/find_plugin.h"

#include <algorithm>
#include <filesystem>

#include "core/base/nearest.h"

namespace halogen::check {
namespace {

namespace fs = std::filesystem;

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

// The entry of a folder's catalogue that `wanted` picks.
template <typename Wanted>
Result<CatalogueEntry> find_in_folder(const fs::path& path, const char* what, Wanted wanted) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (!fs::is_regular_file(absolute, error))
    return fail(HALOGEN_E_NOT_FOUND, path.string() + ": there is no such file");
  const Catalogue catalogue =
      read_catalogue({PluginFolder{absolute.parent_path(), {}, "command line"}});
  for (const CatalogueEntry& entry : catalogue.entries)
    if (wanted(entry)) return entry;
  for (const BrokenManifest& broken : catalogue.broken)
    if (same_file(broken.path, absolute)) return fail(HALOGEN_E_INVALID, broken.message);
  std::string message = path.string() + ": " + what;
  for (const BrokenManifest& broken : catalogue.broken)
    message += "; unreadable: " + broken.message;
  return fail(HALOGEN_E_NOT_FOUND, std::move(message));
}

}  // namespace

Result<CatalogueEntry> find_plugin(const std::string& name, std::vector<PluginFolder> folders) {
  const fs::path path = name;
  if (path.extension() == ".toml") {
    return find_in_folder(
        path, "another manifest in its folder has the same id",
        [&](const CatalogueEntry& entry) { return same_file(entry.manifest.path, path); });
  }
  if (path.extension() == ".so" || path.has_parent_path()) {
    return find_in_folder(
        path, "no manifest (*.toml) beside it names it as its library",
        [&](const CatalogueEntry& entry) { return same_file(entry.library, path); });
  }

  const Catalogue catalogue = read_catalogue(std::move(folders));
  std::vector<std::string> known;
  for (const CatalogueEntry& entry : catalogue.entries) {
    if (entry.manifest.id == name) return entry;
    known.push_back(entry.manifest.id);
  }
  for (const CatalogueEntry& entry : catalogue.entries) {
    for (const auto& [kind, names] : entry.manifest.provides) {
      if (std::find(names.begin(), names.end(), name) != names.end()) return entry;
      known.insert(known.end(), names.begin(), names.end());
    }
  }
  std::string message = "there is no plugin \"" + name + "\"; ";
  if (const auto closest = nearest(name, known); !closest.empty())
    message += "did you mean \"" + std::string(closest) + "\"? ";
  message += "Name an id, a manifest or a shared object; `halogen plugins` lists what there is";
  return fail(HALOGEN_E_NOT_FOUND, std::move(message));
}

}  // namespace halogen::check
