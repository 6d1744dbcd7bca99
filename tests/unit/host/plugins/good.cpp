// A plugin that does everything right. PROBE_ANSWER and PROBE_VERSION tell its builds apart.
#include <cstring>

#include "halogen/cxx/plugin.hpp"

#include "probe.h"

namespace {

halogen::Host host;
int call_count = 0;

int answer() {
  ++call_count;
  return PROBE_ANSWER;
}
int calls() {
  return call_count;
}
const halogen_host* services() {
  return host.table();
}

const probe_factory factory = {sizeof(probe_factory), "probe", answer, calls, services};

halogen_status start(halogen_error*) {
  host.info("hello from " PROBE_VERSION);
  halogen_metric* metric = host.table()->metric_create(host.table(), HALOGEN_METRIC_COUNTER,
                                                       "probe_starts_total", "Starts.", nullptr);
  host.table()->metric_add(metric, 1);
  return HALOGEN_OK;
}
void stop() {
  host.info("goodbye from " PROBE_VERSION);
}
const void* factory_of(const char* kind) {
  return std::strcmp(kind, PROBE_KIND) == 0 ? &factory : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.example.probe", "Probe", PROBE_VERSION, "Apache-2.0", host, start, stop,
                      factory_of);
