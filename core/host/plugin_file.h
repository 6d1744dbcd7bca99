// What a plugin's file says of itself, read without loading it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halogen/plugin.h"

#include "core/base/result.h"
#include "core/host/elf_object.h"

namespace halogen {

// [any] Whether this host serves an ABI: that of a manifest, before the object is opened, and that
// of an object. `who` begins the message. HALOGEN_E_VERSION.
Status check_abi(const std::string& who, unsigned major, unsigned least_host_minor);

// [any] The same for an entry, of which nothing but the size and the versions is read.
Status check_versions(const halogen_plugin& plugin, const std::string& file);

inline constexpr const char* kNoEntry =
    "it does not export " HALOGEN_PLUGIN_SYMBOL "; it is not a halogen plugin";

// [any] Size and versions of the entry, as far as it is that long; its pointers are null. Errors:
// HALOGEN_E_INVALID where there is no entry, or where it is code.
Result<halogen_plugin> find_entry(const ElfObject& object);

// The descriptor and the functions, as the entry will have them once the object is loaded.
struct PluginDescription {
  halogen_plugin entry{};  // size and versions; no pointers
  std::string id, name, version, licence;
  halogen_unload_policy unload = HALOGEN_UNLOAD;
  std::vector<std::string> missing;  // "init", "descriptor.id": null, or outside of the object
};

// [any] Errors are those of find_entry.
Result<PluginDescription> describe_entry(const ElfObject& object);

}  // namespace halogen
