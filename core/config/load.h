// Layers the sources of settings into one valid Profile.
//
// Later ones win: defaults; the TOML file (--config, else $HALOGEN_CONFIG, else the system's, never
// one from the working directory); profiles/NAME.toml beside it (--profile NAME); environment
// variables; flags. A key given in a later source replaces the earlier value as a whole, lists
// included.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/flags.h"
#include "core/config/profile.h"

namespace halogen {

inline constexpr const char* kSystemConfig = "/etc/halogen/halogen.toml";

// The value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

// [any] The process' own variables. Not to be used while another thread changes them.
Environment process_environment();

// [worker] Reads files. The error's message has one line for each thing that is wrong, with file
// and line, or flag, and what is expected. Its status is that of all lines where they agree
// (UNSUPPORTED: a feature of a later version was asked for; NOT_FOUND: a file is missing), else
// INVALID.
Result<Profile> load_profile(const FlagValues& flags, const Environment& environment,
                             const std::string& system_config = kSystemConfig);

// [worker] The same from an argument list without the program's name.
Result<Profile> load_profile(const std::vector<std::string>& arguments,
                             const Environment& environment,
                             const std::string& system_config = kSystemConfig);

}  // namespace halogen
