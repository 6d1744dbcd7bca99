#include "core/config/print.h"

#include <type_traits>
#include <variant>

#include "core/config/schema.h"

namespace halogen {
namespace {

// A file's name may hold anything; a line break would end the comment.
std::string comment(std::string_view origin) {
  std::string text = "  # ";
  for (const char c : origin) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + "\n";
}

std::string setting_line(const Setting& setting, const Profile& profile) {
  const Value value = setting.member.get(profile);
  const std::string_view origin(profile.origin(setting.key));
  const std::string name(setting.name());
  if (setting.secret) {
    const std::size_t count = std::get<std::vector<std::string>>(value).size();
    return "# " + name + ": " + std::to_string(count) + ", not shown" + comment(origin);
  }
  return name + " = " + format_toml(setting, value) + comment(origin);
}

// A key of a plugin's table may itself be dotted; it is kept as TOML spells it.
std::string plugin_tables_of(std::string_view kind, const Profile& profile) {
  std::string text;
  for (const PluginTable& table : profile.plugin_tables) {
    if (table.kind != kind) continue;
    text += "\n[" + dotted({table.kind, table.name}) + "]\n";
    for (const PluginValue& value : table.values) {
      const RawValue raw = std::visit([](const auto& held) { return RawValue(held); }, value.value);
      text += value.key + " = " + format_raw(raw) + comment(value.where);
    }
  }
  return text;
}

}  // namespace

std::string effective_toml(const Profile& profile) {
  std::string text;
  for (const Section& section : sections()) {
    if (!text.empty()) text += "\n";
    text += "[" + std::string(section.table) + "]\n";
    for (const Setting& setting : settings())
      if (setting.table() == section.table) text += setting_line(setting, profile);
    text += plugin_tables_of(section.table, profile);
  }
  return text + plugin_tables_of("loader", profile);
}

}  // namespace halogen
