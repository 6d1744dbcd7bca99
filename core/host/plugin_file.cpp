#include "core/host/plugin_file.h"

#include <cstddef>
#include <optional>

#include "core/host/text.h"

namespace halogen {

Status check_abi(const std::string& who, unsigned major, unsigned least_host_minor) {
  const std::string ours = version_text(HALOGEN_ABI_MAJOR, HALOGEN_ABI_MINOR);
  if (major != HALOGEN_ABI_MAJOR)
    return fail(HALOGEN_E_VERSION, who + " is for plugin ABI " + std::to_string(major) +
                                       ", but this halogen has " + ours +
                                       "; install the plugin's package for this version");
  if (least_host_minor > HALOGEN_ABI_MINOR)
    return fail(HALOGEN_E_VERSION, who + " needs plugin ABI " +
                                       version_text(major, least_host_minor) +
                                       " or newer, but this halogen has " + ours +
                                       "; upgrade halogen or install an older plugin");
  return {};
}

Status check_versions(const halogen_plugin& plugin, const std::string& file) {
  if (!HALOGEN_HAS(&plugin, abi_major))
    return fail(HALOGEN_E_VERSION,
                file + ": its entry of " + std::to_string(plugin.struct_size) +
                    " bytes is too short to hold a version; build it with halogen's headers");
  const unsigned least =
      HALOGEN_HAS(&plugin, least_host_minor) ? unsigned{plugin.least_host_minor} : 0;
  if (auto status = check_abi(file, plugin.abi_major, least); !status) return status;
  if (!HALOGEN_HAS(&plugin, get_factory))
    return fail(HALOGEN_E_VERSION,
                file + ": its entry of " + std::to_string(plugin.struct_size) +
                    " bytes is shorter than the " +
                    std::to_string(offsetof(halogen_plugin, get_factory) + sizeof(void*)) +
                    " of plugin ABI 1.0; build it with halogen's headers");
  return {};
}

Result<halogen_plugin> find_entry(const ElfObject& object) {
  const ElfSymbol* symbol = object.defined(HALOGEN_PLUGIN_SYMBOL);
  if (!symbol) return fail(HALOGEN_E_INVALID, kNoEntry);
  if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
    return fail(HALOGEN_E_INVALID, "its " HALOGEN_PLUGIN_SYMBOL
                                   " is a function; it must be a constant of type halogen_plugin");
  const auto size = object.read<uint32_t>(symbol->address);
  if (!size)
    return fail(HALOGEN_E_INVALID,
                "its " HALOGEN_PLUGIN_SYMBOL " has no value in the file; it must be a constant");
  const auto number = [&](size_t offset) {
    return object.read<uint16_t>(symbol->address + offset).value_or(0);
  };
  halogen_plugin entry{};
  entry.struct_size = *size;
  entry.abi_major = number(offsetof(halogen_plugin, abi_major));
  entry.abi_minor = number(offsetof(halogen_plugin, abi_minor));
  entry.least_host_minor = number(offsetof(halogen_plugin, least_host_minor));
  return entry;
}

Result<PluginDescription> describe_entry(const ElfObject& object) {
  auto entry = find_entry(object);
  if (!entry) return entry.error();
  PluginDescription description;
  description.entry = *entry;

  // Null, a number and a pointer out of the object are all no function of the plugin.
  const auto pointer = [&](uint64_t address, const char* name) {
    const uint64_t target = object.pointer(address).value_or(0);
    if (target == 0) description.missing.emplace_back(name);
    return target;
  };
  const uint64_t at = object.defined(HALOGEN_PLUGIN_SYMBOL)->address;
  if (!HALOGEN_HAS(&*entry, get_factory)) return description;
  pointer(at + offsetof(halogen_plugin, init), "init");
  pointer(at + offsetof(halogen_plugin, deinit), "deinit");
  pointer(at + offsetof(halogen_plugin, get_factory), "get_factory");
  const uint64_t descriptor = pointer(at + offsetof(halogen_plugin, descriptor), "descriptor");
  if (descriptor == 0) return description;

  // Read as a number: the file may hold any.
  const auto size = object.read<uint32_t>(descriptor);
  constexpr size_t unload = offsetof(halogen_plugin_descriptor, unload);
  const auto policy = size.value_or(0) >= unload + sizeof(halogen_unload_policy)
                          ? object.read<uint32_t>(descriptor + unload)
                          : std::nullopt;
  if (policy != HALOGEN_UNLOAD && policy != HALOGEN_RESIDENT) {
    description.missing.emplace_back("descriptor.unload");
    return description;
  }
  description.unload = static_cast<halogen_unload_policy>(*policy);
  const auto text = [&](size_t offset, const char* name, bool required) {
    const uint64_t target = object.pointer(descriptor + offset).value_or(0);
    const auto found = target == 0 ? std::nullopt : object.text(target);
    if (!found && required) description.missing.emplace_back(name);
    return std::string(found.value_or(""));
  };
  description.id = text(offsetof(halogen_plugin_descriptor, id), "descriptor.id", true);
  description.name = text(offsetof(halogen_plugin_descriptor, name), "descriptor.name", false);
  description.version =
      text(offsetof(halogen_plugin_descriptor, version), "descriptor.version", true);
  description.licence =
      text(offsetof(halogen_plugin_descriptor, licence), "descriptor.licence", false);
  return description;
}

}  // namespace halogen
