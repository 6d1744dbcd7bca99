// The entry of the scheduler plugin.
#include "halogen/cxx/plugin.hpp"

#include <cstring>

#include "halogen/scheduler.h"

#include "factory.h"

namespace {

halogen::Host host;

halogen_status init(halogen_error* /*error*/) {
  return HALOGEN_OK;
}

void deinit() {}

const void* get_factory(const char* kind) {
  return std::strcmp(kind, HALOGEN_SCHEDULER_KIND) == 0 ? &scheduler::factory : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.halogen.scheduler", "Continuous batching scheduler", "0.1.0",
                      "Apache-2.0", host, init, deinit, get_factory);
