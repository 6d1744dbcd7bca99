// Loading a model for the commands that measure it.
#pragma once

#include <memory>

#include "core/cli/commands.h"
#include "core/cli/runtime.h"
#include "core/serve/served_model.h"

namespace halogen::cli {

// The profile that the arguments describe, for loading quietly. Errors are load_profile()'s.
Result<Profile> profile_of(const ModelArguments& arguments);

// The threads that the profile gives the cpu backend, or as many as there are processors.
uint32_t threads_of(const Profile& profile);

// A loaded model with what it runs on.
struct MeasuredModel {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<ServedModel> model;
};

// Loads it, with progress on a terminal.
Result<MeasuredModel> load_measured(const Profile& profile);

}  // namespace halogen::cli
