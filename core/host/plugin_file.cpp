#include "core/host/plugin_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

namespace halogen {
namespace {

// Copies the head of a struct that begins with its size: no more than the writer and we both know.
template <typename Struct>
std::optional<Struct> read_sized(const ElfObject& object, uint64_t address) {
  Struct value{};
  const auto size = object.read<uint32_t>(address);
  if (!size) return std::nullopt;
  auto* bytes = reinterpret_cast<char*>(&value);
  for (size_t i = 0; i < std::min<size_t>(*size, sizeof value); ++i) {
    const auto byte = object.read<char>(address + i);
    if (!byte) return std::nullopt;
    bytes[i] = *byte;
  }
  value.struct_size = *size;
  return value;
}

}  // namespace

Result<halogen_plugin> find_entry(const ElfObject& object) {
  const ElfSymbol* symbol = object.defined(HALOGEN_PLUGIN_SYMBOL);
  if (!symbol) return fail(HALOGEN_E_INVALID, kNoEntry);
  if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
    return fail(HALOGEN_E_INVALID, "its " HALOGEN_PLUGIN_SYMBOL
                                   " is a function; it must be a constant of type halogen_plugin");
  auto entry = read_sized<halogen_plugin>(object, symbol->address);
  if (!entry)
    return fail(HALOGEN_E_INVALID,
                "its " HALOGEN_PLUGIN_SYMBOL " has no value in the file; it must be a constant");
  entry->descriptor = nullptr;
  entry->init = nullptr;
  entry->deinit = nullptr;
  entry->get_factory = nullptr;
  return *entry;
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

  const auto head = read_sized<halogen_plugin_descriptor>(object, descriptor);
  if (!head || !HALOGEN_HAS(&*head, unload)) {
    description.missing.emplace_back("descriptor.unload");
    return description;
  }
  description.unload = head->unload;
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
