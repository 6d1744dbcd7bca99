#include "core/cli/runtime.h"

#include <iostream>
#include <sstream>

#include "core/base/log.h"
#include "core/cli/commands.h"
#include "core/host/search_path.h"

namespace halogen::cli {

Result<std::unique_ptr<Runtime>> Runtime::create(const Profile& profile) {
  std::unique_ptr<Runtime> runtime(new Runtime());
  auto loop = Loop::create();
  if (!loop) return loop.error();
  runtime->loop_ = std::move(*loop);
  runtime->poster_ = std::make_unique<Poster>(*runtime->loop_);
  auto folders = make_search_path(search_path_inputs(profile.plugin_path));
  if (!folders) return folders.error();
  PluginHostOptions options;
  options.folders = std::move(*folders);
  runtime->plugins_ =
      std::make_unique<PluginHost>(std::move(options), runtime->metrics_, *runtime->poster_);
  return runtime;
}

int report(const Error& error) {
  std::istringstream lines(error.message);
  for (std::string line; std::getline(lines, line);) std::cerr << "halogen: " << line << '\n';
  return kFailure;
}

void start_log(const LogProfile& log) {
  LogOptions options;
  options.level = log.level;
  options.format = log.format;
  log_init(options);
}

}  // namespace halogen::cli
