#include "core/config/profile_diff.h"

#include <map>
#include <utility>
#include <variant>

#include "core/config/schema.h"

namespace halogen {
namespace {

using Spelled = std::map<std::string, std::string>;  // key -> value as TOML

Spelled plugin_values(const Profile& profile) {
  Spelled values;
  for (const PluginTable& table : profile.plugin_tables) {
    for (const PluginValue& value : table.values) {
      const RawValue raw = std::visit([](const auto& held) { return RawValue(held); }, value.value);
      values[dotted({table.kind, table.name}) + "." + value.key] = format_raw(raw);
    }
  }
  return values;
}

}  // namespace

std::vector<ProfileChange> diff_profiles(const Profile& before, const Profile& after) {
  std::vector<ProfileChange> changes;
  for (const Setting& setting : settings()) {
    const Value old_value = setting.member.get(before);
    const Value new_value = setting.member.get(after);
    if (old_value == new_value) continue;
    const auto spell = [&](const Value& value) {
      return setting.secret ? "(hidden)" : format_toml(setting, value);
    };
    changes.push_back(
        {std::string(setting.key), spell(old_value), spell(new_value), setting.change});
  }

  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [key, value] : plugin_values(before)) both[key].first = value;
  for (const auto& [key, value] : plugin_values(after)) both[key].second = value;
  for (const auto& [key, values] : both) {
    if (values.first != values.second)
      changes.push_back({key, values.first, values.second, Change::transition});
  }
  return changes;
}

std::string_view change_name(Change change) {
  switch (change) {
    case Change::live:
      return "live";
    case Change::transition:
      return "transition";
    case Change::restart:
      return "restart";
  }
  return "";
}

}  // namespace halogen
