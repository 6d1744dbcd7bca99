#include "core/config/profile.h"

#include <algorithm>

#include "core/config/schema.h"

namespace halogen {
namespace {

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

}  // namespace

std::string_view Profile::origin(std::string_view key) const {
  const auto found = origins.find(key);
  return found != origins.end() ? std::string_view(found->second) : "default";
}

const PluginTable* Profile::plugin_table(std::string_view kind, std::string_view name) const {
  for (const PluginTable& table : plugin_tables)
    if (table.kind == kind && table.name == name) return &table;
  return nullptr;
}

Status require_model(const Profile& profile) {
  if (!profile.model.path.empty()) return {};
  return fail(HALOGEN_E_INVALID,
              "no model is named; give --model FILE_OR_FOLDER, or model.path in the TOML file");
}

std::vector<std::string> profile_notices(const Profile& profile) {
  std::vector<std::string> notices;
  const std::string& backend = profile.backend.name;
  if (backend == "cpu" || backend == "auto") {
    const std::string which =
        backend == "cpu" ? "the cpu backend" : "the cpu backend, which auto takes in this version";
    for (const Setting& setting : settings()) {
      const std::string_view origin = profile.origin(setting.key);
      if (setting.without_effect_on_cpu.empty() || origin == "default") continue;
      notices.push_back(std::string(setting.key) + " (" + std::string(origin) +
                        ") has no effect on " + which + ": " +
                        std::string(setting.without_effect_on_cpu));
    }
  }
  if (!is_loopback(profile.server.host) && !profile.server.asks_for_key()) {
    notices.push_back("server.host = \"" + profile.server.host + "\" (" +
                      std::string(profile.origin("server.host")) +
                      ") serves everybody who reaches this machine; server.api_keys would ask for "
                      "a key");
  }
  const auto& origins = profile.server.cors_origins;
  if (std::find(origins.begin(), origins.end(), "*") != origins.end() &&
      !profile.server.asks_for_key()) {
    notices.push_back("server.cors_origins (" + std::string(profile.origin("server.cors_origins")) +
                      ") lets every web page use this server through its visitors' browsers; "
                      "server.api_keys would ask for a key");
  }
  return notices;
}

}  // namespace halogen
