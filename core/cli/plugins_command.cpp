#include <iostream>

#include "core/cli/commands.h"
#include "core/cli/runtime.h"
#include "core/config/load.h"
#include "core/config/print.h"
#include "core/host/describe.h"

namespace halogen::cli {

int list_plugins(const FlagValues& flags) {
  auto profile = load_profile(flags, process_environment());
  if (!profile) return report(profile.error());
  start_log(profile->log);
  auto runtime = Runtime::create(*profile);
  if (!runtime) return report(runtime.error());
  std::cout << describe((*runtime)->plugins().list());
  return kSuccess;
}

int show_config(const FlagValues& flags) {
  auto profile = load_profile(flags, process_environment());
  if (!profile) return report(profile.error());
  std::cout << effective_toml(*profile);
  return kSuccess;
}

}  // namespace halogen::cli
