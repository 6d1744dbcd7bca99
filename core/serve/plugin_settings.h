// The operator's table for a plugin, checked against what its factory understands.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halogen/backend.h"

#include "core/base/result.h"
#include "core/config/profile.h"
#include "core/host/config_view.h"

namespace halogen {

// [any] The settings of [kind.name] for a create call.
Result<ConfigView> plugin_settings(const Profile& profile, const std::string& kind,
                                   const std::string& name,
                                   std::span<const halogen_config_key* const> keys);

// [any] What [attention] says, as the keys of a backend and their values.
std::vector<std::pair<std::string, std::string>> attention_settings(
    const AttentionProfile& attention);

// [any] The settings of [backend.NAME]. A backend that lists the keys `flash` and `flash_threshold`
// gets those of [attention], unless its own table says otherwise.
Result<ConfigView> backend_settings(const Profile& profile, const halogen_backend_factory& factory);

}  // namespace halogen
