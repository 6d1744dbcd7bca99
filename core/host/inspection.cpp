#include "core/host/inspection.h"

#include <algorithm>

#include <dlfcn.h>

#include "core/host/catalogue.h"
#include "core/host/elf_traits.h"
#include "core/host/library_search.h"
#include "core/host/text.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;

// The first few.
std::string listed(std::vector<std::string> items) {
  constexpr size_t kShown = 5;
  if (items.size() <= kShown) return joined(items, ", ");
  const size_t more = items.size() - kShown;
  items.resize(kShown);
  return joined(items, ", ") + " and " + std::to_string(more) + " more";
}

// Manifest and library, whichever of them was named.
struct Pair {
  std::optional<Manifest> manifest;
  fs::path library;
};

std::optional<Pair> find_pair(const fs::path& file, std::vector<PluginFolder> folders) {
  std::error_code ignored;
  for (CatalogueEntry& entry : read_catalogue(std::move(folders)).entries)
    if (fs::equivalent(entry.manifest.path, file, ignored) ||
        fs::equivalent(entry.library, file, ignored))
      return Pair{std::move(entry.manifest), std::move(entry.library)};
  return std::nullopt;
}

Result<Pair> pair_of(const fs::path& file, const fs::path& manifest_path) {
  const bool is_manifest = file.extension() == ".toml";
  const fs::path named = is_manifest ? file : manifest_path;
  std::optional<Manifest> manifest;
  if (!named.empty()) {
    auto read = read_manifest(named);
    if (!read) return read.error();
    manifest = std::move(*read);
  }
  if (manifest && !is_manifest) return Pair{std::move(manifest), file};

  std::error_code ignored;
  const fs::path absolute = fs::absolute(file, ignored).lexically_normal();
  auto inputs = search_path_inputs({absolute.parent_path().string()});
  auto folders = make_search_path(inputs);
  if (!folders) return folders.error();
  // What lies beside the file counts before all that the search path has.
  const auto beside = std::ranges::find(*folders, absolute.parent_path(), &PluginFolder::manifests);
  if (beside != folders->end())
    if (auto found = find_pair(absolute, {*beside})) return std::move(*found);
  if (auto found = find_pair(absolute, *folders)) return std::move(*found);
  if (manifest) return Pair{manifest, absolute.parent_path() / manifest->library};
  return Pair{std::nullopt, file};
}

void check_symbols(const ElfObject& object, Inspection& found) {
  if (object.symbols().empty()) {
    found.entry_readable = false;
    found.remarks.emplace_back("its symbols were stripped, so that its entry cannot be read");
    return;
  }
  NeededLibraries libraries = read_needed_libraries(object);
  found.missing_libraries = std::move(libraries.missing);
  std::vector<std::string> by_chance;
  for (const ElfSymbol& symbol : object.symbols()) {
    const std::string name(symbol.name);
    if (symbol.defined) {
      if (name != HALOGEN_PLUGIN_SYMBOL && symbol.binding != STB_LOCAL)
        found.other_exports.push_back(name);
    } else if (symbol.binding != STB_WEAK && !libraries.symbols.contains(name)) {
      const bool here = ::dlsym(RTLD_DEFAULT, name.c_str()) != nullptr;
      (here ? by_chance : found.undefined).push_back(name);
    }
  }
  if (!found.missing_libraries.empty())
    found.problems.push_back("needed libraries are not found: " + listed(found.missing_libraries));
  if (!found.undefined.empty())
    found.problems.push_back("symbols that it needs are defined nowhere: " +
                             listed(found.undefined));
  if (!by_chance.empty())
    found.remarks.push_back(
        "it uses symbols that halogen happens to have, without needing their "
        "library: " +
        listed(by_chance));
  if (!found.other_exports.empty())
    found.remarks.push_back("it exports more than its entry: " + listed(found.other_exports) +
                            "; link it with a version script");
}

void check_unloading(const ElfObject& object, Inspection& found) {
  found.stays_mapped = reasons_to_stay_mapped(object);
  const bool wants_to = found.description && found.description->unload == HALOGEN_RESIDENT;
  for (const std::string& reason : found.stays_mapped)
    if (!wants_to) found.remarks.push_back("it may stay in memory after it is unloaded: " + reason);
  if (object.run_path().find("ORIGIN") != std::string_view::npos)
    found.remarks.emplace_back(
        "its run path uses $ORIGIN, but halogen opens a private copy in another place");
}

void check_entry(const ElfObject& object, const std::string& file, Inspection& found) {
  auto description = describe_entry(object);
  if (!description) {
    if (!object.symbols().empty()) found.problems.push_back(description.error().message);
    return;
  }
  found.description = std::move(*description);
  if (auto status = check_versions(found.description->entry, file); !status)
    found.problems.push_back(status.error().message);
  else if (!found.description->missing.empty())
    found.problems.push_back("its entry lacks " + listed(found.description->missing));
}

// The manifest against the object.
void compare(const Manifest& manifest, Inspection& found) {
  const std::string path = manifest.path.string();
  if (auto status =
          check_abi("its manifest " + path, manifest.abi_major, manifest.least_host_minor);
      !status)
    found.problems.push_back(status.error().message);
  if (manifest.library.filename() != found.library.filename())
    found.problems.push_back("its manifest " + path + " names the library " +
                             manifest.library.string());
  if (!found.description) return;
  const PluginDescription& described = *found.description;
  const auto differ = [&](const char* what, const std::string& ours, const std::string& theirs,
                          std::vector<std::string>& where) {
    if (!ours.empty() && ours != theirs)
      where.push_back("its " + std::string(what) + " is " + ours + ", but its manifest " + path +
                      " says " + theirs);
  };
  differ("id", described.id, manifest.id, found.problems);
  differ("version", described.version, manifest.version, found.remarks);
  differ("ABI major", std::to_string(described.entry.abi_major), std::to_string(manifest.abi_major),
         found.problems);
  differ("least host minor", std::to_string(described.entry.least_host_minor),
         std::to_string(manifest.least_host_minor), found.remarks);
}

}  // namespace

Result<Inspection> inspect_plugin(const fs::path& file, const fs::path& manifest) {
  if (file.empty()) return fail(HALOGEN_E_INVALID, "the name of the file is empty");
  auto pair = pair_of(file, manifest);
  if (!pair) return pair.error();
  Inspection found;
  found.library = std::move(pair->library);
  found.manifest = std::move(pair->manifest);
  const auto bytes = read_object_file(found.library);
  if (!bytes) return bytes.error();

  const auto object = ElfObject::parse(*bytes);
  if (!object) {
    found.problems.push_back(object.error().message);
  } else {
    found.machine = machine_name(object->machine());
    for (const std::string_view name : object->needed()) found.needed.emplace_back(name);
    check_entry(*object, found.library.string(), found);
    if (object->machine() == this_machine())
      check_symbols(*object, found);
    else
      found.problems.push_back("it is for " + found.machine + " processors, but this one is " +
                               machine_name(this_machine()));
    check_unloading(*object, found);
  }
  if (found.manifest) compare(*found.manifest, found);
  return found;
}

}  // namespace halogen
