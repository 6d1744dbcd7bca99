#include "core/host/catalogue.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "core/host/text.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> manifests_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".toml") paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());  // a folder's order is chance
  return paths;
}

// Beside the manifest, which is how a build tree and a single download look; else where the
// installation keeps libraries.
fs::path locate(const Manifest& manifest, const PluginFolder& folder) {
  std::error_code ignored;
  const fs::path beside = (manifest.path.parent_path() / manifest.library).lexically_normal();
  if (folder.libraries.empty() || manifest.library.is_absolute() || fs::exists(beside, ignored))
    return beside;
  return (folder.libraries / manifest.library).lexically_normal();
}

void warn_of_shared_names(const CatalogueEntry& later, Catalogue& catalogue) {
  for (const auto& [kind, names] : later.manifest.provides)
    for (const std::string& name : names)
      for (const CatalogueEntry& earlier : catalogue.entries)
        if (earlier.manifest.provides_name(kind, name))
          catalogue.warnings.push_back(kind_word(kind) + " \"" + name + "\" is provided by " +
                                       earlier.manifest.path.string() + ", which is used, and by " +
                                       later.manifest.path.string() +
                                       ", which must be named by its id " + later.manifest.id);
}

void add(Manifest manifest, const PluginFolder& folder, Catalogue& catalogue) {
  const auto same =
      std::find_if(catalogue.entries.begin(), catalogue.entries.end(),
                   [&](const CatalogueEntry& entry) { return entry.manifest.id == manifest.id; });
  if (same != catalogue.entries.end()) {
    // An earlier folder is meant to override; twice in one folder is somebody's mistake.
    if (same->manifest.path.parent_path() == manifest.path.parent_path())
      catalogue.warnings.push_back(manifest.path.string() + ": the plugin id " + manifest.id +
                                   " is already taken by " + same->manifest.path.string() +
                                   ", which is used");
    return;
  }
  CatalogueEntry entry{std::move(manifest), {}, folder.origin};
  entry.library = locate(entry.manifest, folder);
  std::error_code ignored;
  entry.library_exists = fs::is_regular_file(entry.library, ignored);
  warn_of_shared_names(entry, catalogue);
  catalogue.entries.push_back(std::move(entry));
}

}  // namespace

Catalogue read_catalogue(std::vector<PluginFolder> folders) {
  Catalogue catalogue;
  for (const PluginFolder& folder : folders) {
    for (const fs::path& path : manifests_in(folder.manifests)) {
      auto manifest = read_manifest(path);
      if (manifest) {
        add(std::move(*manifest), folder, catalogue);
      } else {
        catalogue.broken.push_back({path, folder.origin, manifest.error().message});
        catalogue.warnings.push_back(manifest.error().message);
      }
    }
  }
  catalogue.searched = std::move(folders);
  return catalogue;
}

Result<const CatalogueEntry*> Catalogue::find(std::string_view kind, std::string_view name) const {
  for (const CatalogueEntry& entry : entries)
    if (entry.manifest.provides_name(kind, name)) return &entry;
  const std::string word = kind_word(kind);
  for (const CatalogueEntry& entry : entries) {
    if (entry.manifest.id != name) continue;
    if (entry.manifest.has_kind(kind)) return &entry;
    return fail(HALOGEN_E_NOT_FOUND,
                "plugin '" + entry.manifest.id + "' (" + entry.manifest.path.string() +
                    ") is not a " + word + "; its kinds are " +
                    (entry.manifest.kinds.empty() ? "none" : joined(entry.manifest.kinds, ", ")));
  }

  std::vector<std::string> available, folders, unreadable;
  for (const CatalogueEntry& entry : entries)
    if (const auto names = entry.manifest.provides.find(std::string(kind));
        names != entry.manifest.provides.end())
      available.insert(available.end(), names->second.begin(), names->second.end());
  for (const PluginFolder& folder : searched) folders.push_back(folder.manifests.string());
  for (const BrokenManifest& manifest : broken) unreadable.push_back(manifest.message);

  std::string message = "there is no plugin for " + word + " \"" + std::string(name) + "\"; ";
  if (const auto closest = nearest(name, available); !closest.empty())
    message += "did you mean \"" + std::string(closest) + "\"? ";
  message += "Available: " + (available.empty() ? "none" : joined(available, ", ")) +
             ". Manifests were looked for in " +
             (folders.empty() ? "no folder" : joined(folders, ", "));
  if (!unreadable.empty()) message += ". Unreadable: " + joined(unreadable, ", ");
  if (name.find('.') == std::string_view::npos)  // an id says nothing about its package
    message +=
        ". By convention it is part of the package halogen-" + word + '-' + std::string(name);
  return fail(HALOGEN_E_NOT_FOUND, std::move(message));
}

}  // namespace halogen
