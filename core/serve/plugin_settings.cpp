#include "core/serve/plugin_settings.h"

#include <vector>

namespace halogen {

Result<ConfigView> plugin_settings(const Profile& profile, const std::string& kind,
                                   const std::string& name,
                                   std::span<const halogen_config_key* const> keys) {
  const std::string table_name = kind + "." + name;
  std::vector<ConfigEntry> entries;
  if (const PluginTable* table = profile.plugin_table(kind, name)) {
    for (const PluginValue& value : table->values) {
      if (std::holds_alternative<std::vector<std::string>>(value.value)) {
        return fail(HALOGEN_E_INVALID, value.where + ": " + table_name + "." + value.key +
                                           " is a list; plugins take single values");
      }
      ConfigEntry entry{value.key, false, value.where};
      if (const auto* flag = std::get_if<bool>(&value.value)) entry.value = *flag;
      if (const auto* integer = std::get_if<int64_t>(&value.value)) entry.value = *integer;
      if (const auto* number = std::get_if<double>(&value.value)) entry.value = *number;
      if (const auto* text = std::get_if<std::string>(&value.value)) entry.value = *text;
      entries.push_back(std::move(entry));
    }
  }
  return ConfigView::make(table_name, entries, keys);
}

}  // namespace halogen
