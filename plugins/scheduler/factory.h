// The scheduler as the host sees it: settings in, plans out.
#pragma once

#include "halogen/scheduler.h"

namespace scheduler {

extern const halogen_scheduler_factory factory;

}  // namespace scheduler
