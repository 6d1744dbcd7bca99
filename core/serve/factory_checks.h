// Whether a plugin's table has all the functions that the core calls, so that a table that is too
// short or has a hole is an error when the plugin is loaded and not a crash later.
#pragma once

#include <string>

#include "halogen/backend.h"
#include "halogen/loader.h"
#include "halogen/sampler.h"
#include "halogen/scheduler.h"

#include "core/base/result.h"

namespace halogen {

// [any] HALOGEN_E_INVALID with the plugin's id and the name of the first function that is missing.
Status check_factory(const std::string& plugin_id, const halogen_loader_factory* factory);
Status check_factory(const std::string& plugin_id, const halogen_backend_factory* factory);
Status check_factory(const std::string& plugin_id, const halogen_sampler_factory* factory);
Status check_factory(const std::string& plugin_id, const halogen_scheduler_factory* factory);

}  // namespace halogen
