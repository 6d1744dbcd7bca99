#include "core/host/inspection_report.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/printable.h"
#include "core/host/text.h"

namespace halogen {
namespace {

void field(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += "  ";
  out += name;
  out.append(name.size() < 10 ? 10 - name.size() : 1, ' ');
  out += printable(value) + '\n';
}

const std::string kOurAbi = version_text(HALOGEN_ABI_MAJOR, HALOGEN_ABI_MINOR);

void describe(std::string& out, const PluginDescription& plugin) {
  const halogen_plugin& entry = plugin.entry;
  std::string who = plugin.id;
  for (const std::string& more : {plugin.version, plugin.name.empty() ? "" : "— " + plugin.name})
    if (!more.empty()) who += ' ' + more;
  field(out, "plugin", who);
  field(out, "licence", plugin.licence);
  field(out, "abi",
        "built with " + version_text(entry.abi_major, entry.abi_minor) + ", needs " +
            version_text(entry.abi_major, entry.least_host_minor) + " (an entry of " +
            std::to_string(entry.struct_size) + " bytes)");
  field(out, "unload",
        plugin.unload == HALOGEN_RESIDENT ? "stays in memory, as it asks" : "leaves memory");
}

std::string verdict(const Inspection& inspection) {
  if (inspection.refused()) return "refuses it";
  if (!inspection.entry_readable) return "cannot tell without loading it whether it takes it";
  return inspection.manifest ? "takes it" : "takes it, with a manifest";
}

}  // namespace

std::string inspection_text(const Inspection& inspection) {
  std::string out = printable(inspection.library.string()) + '\n';
  if (inspection.description) describe(out, *inspection.description);
  field(out, "machine", inspection.machine);
  field(out, "needs", joined(inspection.needed, ", "));
  if (inspection.manifest) {
    field(out, "manifest", inspection.manifest->path.string());
    field(out, "kinds", joined(inspection.manifest->kinds, ", "));
  }
  for (const std::string& problem : inspection.problems) field(out, "problem", problem);
  for (const std::string& remark : inspection.remarks) field(out, "remark", remark);
  return out + "This halogen (plugin ABI " + kOurAbi + ") " + verdict(inspection) + ".\n";
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
  if (!inspection.refused() && !inspection.entry_readable) json["usable"] = nullptr;
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
