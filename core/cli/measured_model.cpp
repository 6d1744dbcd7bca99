#include "core/cli/measured_model.h"

#include <algorithm>

#include "core/bench/machine_speed.h"
#include "core/cli/progress_line.h"
#include "core/config/load.h"

namespace halogen::cli {

Result<Profile> profile_of(const ModelArguments& arguments) {
  FlagValues flags = arguments.flags;
  if (arguments.threads > 0)
    flags.assignments.push_back("backend.cpu.threads=" + std::to_string(arguments.threads));
  if (!arguments.cache_type.empty())
    flags.values.push_back({"kv.cache_type", "--cache-type", arguments.cache_type});
  auto profile = load_profile(flags, process_environment());
  if (!profile) return profile;
  profile->model.path = arguments.model;
  profile->log.level = std::max(profile->log.level, LogLevel::warning);
  return profile;
}

uint32_t threads_of(const Profile& profile) {
  if (const PluginTable* table = profile.plugin_table("backend", "cpu")) {
    for (const PluginValue& value : table->values) {
      const auto* threads = std::get_if<std::int64_t>(&value.value);
      if (value.key == "threads" && threads && *threads > 0) return static_cast<uint32_t>(*threads);
    }
  }
  return bench::usable_processors();
}

Result<MeasuredModel> load_measured(const Profile& profile) {
  auto runtime = Runtime::create(profile);
  if (!runtime) return runtime.error();
  ProgressLine line;
  auto model = ServedModel::load(
      profile, (*runtime)->plugins(),
      [&line](const char* stage, double fraction) { return line.show(stage, fraction); });
  line.wipe();
  if (!model) return model.error();
  return MeasuredModel{std::move(*runtime), std::move(*model)};
}

}  // namespace halogen::cli
