#include "core/serve/plugin_settings.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace halogen {
namespace {

using Keys = std::span<const halogen_config_key* const>;

const char* flash_name(FlashAttention flash) {
  switch (flash) {
    case FlashAttention::forced:
      return "on";
    case FlashAttention::forbidden:
      return "off";
    case FlashAttention::automatic:
      break;
  }
  return "auto";
}

Result<std::vector<ConfigEntry>> entries_of(const Profile& profile, const std::string& kind,
                                            const std::string& name) {
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
  return entries;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> attention_settings(
    const AttentionProfile& attention) {
  return {{"flash", flash_name(attention.flash)},
          {"flash_threshold", std::to_string(attention.flash_threshold)}};
}

Result<ConfigView> plugin_settings(const Profile& profile, const std::string& kind,
                                   const std::string& name, Keys keys) {
  auto entries = entries_of(profile, kind, name);
  if (!entries) return entries.error();
  return ConfigView::make(kind + "." + name, *entries, keys);
}

Result<ConfigView> backend_settings(const Profile& profile,
                                    const halogen_backend_factory& factory) {
  const Keys keys{factory.config_keys, factory.n_config_keys};
  auto entries = entries_of(profile, "backend", factory.name);
  if (!entries) return entries.error();
  const auto add = [&](const std::string& key, ConfigEntry entry) {
    const bool listed = std::any_of(keys.begin(), keys.end(), [&](const halogen_config_key* known) {
      return std::string_view(known->name) == key;
    });
    const bool given = std::any_of(entries->begin(), entries->end(),
                                   [&](const ConfigEntry& one) { return one.key == key; });
    if (listed && !given) entries->push_back(std::move(entry));
  };
  const AttentionProfile& attention = profile.attention;
  add("flash",
      {"flash", flash_name(attention.flash), std::string(profile.origin("attention.flash"))});
  add("flash_threshold", {"flash_threshold", int64_t{attention.flash_threshold},
                          std::string(profile.origin("attention.flash_threshold"))});
  add("kernel_cache", {"kernel_cache", profile.backend.kernel_cache,
                       std::string(profile.origin("backend.kernel_cache"))});
  return ConfigView::make("backend." + std::string(factory.name), *entries, keys);
}

}  // namespace halogen
