#include "core/host/inspection_report.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/printable.h"

namespace halogen {
namespace {

void field(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += "  ";
  out += name;
  out.append(name.size() < 10 ? 10 - name.size() : 1, ' ');
  out += printable(value) + '\n';
}

std::string joined(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ", ") + item;
  return list;
}

std::string abi_text(unsigned major, unsigned minor) {
  return std::to_string(major) + '.' + std::to_string(minor);
}

const std::string kOurAbi = abi_text(HALOGEN_ABI_MAJOR, HALOGEN_ABI_MINOR);

void describe(std::string& out, const PluginDescription& plugin) {
  const halogen_plugin& entry = plugin.entry;
  std::string who = plugin.id;
  for (const std::string& more : {plugin.version, plugin.name.empty() ? "" : "— " + plugin.name})
    if (!more.empty()) who += ' ' + more;
  field(out, "plugin", who);
  field(out, "licence", plugin.licence);
  field(out, "abi",
        "built with " + abi_text(entry.abi_major, entry.abi_minor) + ", needs " +
            abi_text(entry.abi_major, entry.least_host_minor) + " (an entry of " +
            std::to_string(entry.struct_size) + " bytes)");
  field(out, "unload",
        plugin.unload == HALOGEN_RESIDENT ? "stays in memory, as it asks" : "leaves memory");
}

}  // namespace

std::string inspection_text(const Inspection& inspection) {
  std::string out = printable(inspection.library.string()) + '\n';
  if (inspection.description) describe(out, *inspection.description);
  field(out, "machine", inspection.machine);
  field(out, "needs", joined(inspection.needed));
  if (inspection.manifest) {
    field(out, "manifest", inspection.manifest->path.string());
    field(out, "kinds", joined(inspection.manifest->kinds));
  }
  for (const std::string& problem : inspection.problems) field(out, "problem", problem);
  for (const std::string& remark : inspection.remarks) field(out, "remark", remark);
  return out +
         (inspection.usable() ? "This halogen (plugin ABI " + kOurAbi + ") takes it"
                              : "This halogen (plugin ABI " + kOurAbi + ") refuses it") +
         (inspection.usable() && !inspection.manifest ? ", with a manifest.\n" : ".\n");
}

std::string inspection_json(const Inspection& inspection) {
  using Json = nlohmann::ordered_json;
  Json json = {{"library", inspection.library.string()},
               {"usable", inspection.usable()},
               {"manifest", nullptr},
               {"plugin", nullptr},
               {"machine", inspection.machine},
               {"needed", inspection.needed},
               {"missing_libraries", inspection.missing_libraries},
               {"undefined", inspection.undefined},
               {"other_exports", inspection.other_exports},
               {"stays_mapped", inspection.stays_mapped},
               {"problems", inspection.problems},
               {"remarks", inspection.remarks}};
  if (inspection.machine.empty()) json["machine"] = nullptr;
  if (inspection.manifest) json["manifest"] = inspection.manifest->path.string();
  if (const auto& plugin = inspection.description)
    json["plugin"] = {{"id", plugin->id},
                      {"name", plugin->name},
                      {"version", plugin->version},
                      {"licence", plugin->licence},
                      {"unload", plugin->unload == HALOGEN_RESIDENT ? "resident" : "unload"},
                      {"entry_bytes", plugin->entry.struct_size},
                      {"abi_major", plugin->entry.abi_major},
                      {"abi_minor", plugin->entry.abi_minor},
                      {"least_host_minor", plugin->entry.least_host_minor}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace halogen
