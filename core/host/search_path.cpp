#include "core/host/search_path.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace halogen {
namespace {

namespace fs = std::filesystem;

// A folder that is there already keeps its place.
void add_folder(std::vector<PluginFolder>& folders, PluginFolder added) {
  const bool known = std::ranges::any_of(
      folders, [&](const PluginFolder& folder) { return folder.manifests == added.manifests; });
  if (!known) folders.push_back(std::move(added));
}

// Of a manifest folder that is laid out like an installation's, the folder of its libraries; else
// empty.
fs::path libraries_of(const fs::path& manifests) {
  const fs::path installed = fs::path(HALOGEN_INSTALL_DATADIR) / "halogen" / "plugins";
  fs::path prefix = manifests;
  for (auto part = std::distance(installed.begin(), installed.end()); part > 0; part--)
    prefix = prefix.parent_path();
  if (prefix / installed != manifests) return {};
  return prefix / HALOGEN_INSTALL_LIBDIR / "halogen" / "plugins";
}

Status add_entry(std::vector<PluginFolder>& folders, std::string_view entry, const char* origin) {
  if (entry.empty()) return {};  // "a::b", or a colon at an end: nothing, least of all "."
  const fs::path folder(entry);
  if (!folder.is_absolute())
    return fail(HALOGEN_E_INVALID, std::string(origin) + ": the plugin folder \"" +
                                       std::string(entry) +
                                       "\" is relative; write an absolute path");
  add_folder(folders, {folder.lexically_normal(), libraries_of(folder.lexically_normal()), origin});
  return {};
}

// The build tree that holds the executable, or empty.
fs::path build_tree_of(const fs::path& executable) {
  std::error_code ignored;
  for (fs::path folder = executable.parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (fs::exists(folder / "CMakeCache.txt", ignored)) return folder;
  return {};
}

}  // namespace

SearchPathInputs search_path_inputs(std::vector<std::string> profile) {
  SearchPathInputs inputs;
  // secure_getenv: whoever starts a privileged halogen must not choose what it loads.
  if (const char* value = secure_getenv("HALOGEN_PLUGIN_PATH")) inputs.environment = value;
  inputs.profile = std::move(profile);
  std::error_code ignored;
  inputs.executable = fs::read_symlink("/proc/self/exe", ignored);
  return inputs;
}

Result<std::vector<PluginFolder>> make_search_path(const SearchPathInputs& inputs) {
  std::vector<PluginFolder> folders;
  std::string_view rest = inputs.environment;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    if (auto added = add_entry(folders, rest.substr(0, colon), "HALOGEN_PLUGIN_PATH"); !added)
      return added.error();
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  for (const std::string& entry : inputs.profile)
    if (auto added = add_entry(folders, entry, "plugins.path"); !added) return added.error();

  const fs::path prefix = inputs.executable.parent_path().parent_path();
  const fs::path libraries = prefix / HALOGEN_INSTALL_LIBDIR / "halogen" / "plugins";
  add_folder(folders, {inputs.administrator, libraries, "administrator"});
  add_folder(folders,
             {prefix / HALOGEN_INSTALL_DATADIR / "halogen" / "plugins", libraries, "installation"});
  if (const fs::path build = build_tree_of(inputs.executable); !build.empty())
    add_folder(folders, {build / "plugins", {}, "build tree"});
  return folders;
}

}  // namespace halogen
