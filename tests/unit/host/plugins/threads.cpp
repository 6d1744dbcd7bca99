// A plugin that starts a thread and never joins it. The thread waits for deinit; where PROBE_STUCK
// is defined, it then waits for a byte on the descriptor that the environment names, which the test
// holds.
#include <atomic>
#include <cstdlib>

#include <unistd.h>

#include "halogen/cxx/plugin.hpp"

#include "probe.h"

namespace {

halogen::Host host;
std::atomic<bool> ending{false};

void work(void*) {
  while (!ending) usleep(1000);
#ifdef PROBE_STUCK
  char byte = 0;
  while (read(std::atoi(std::getenv("PROBE_RELEASE_FD")), &byte, 1) < 0) {
  }
#endif
}

int answer() {
  return 7;
}
int calls() {
  return 0;
}
const halogen_host* services() {
  return host.table();
}
const probe_factory factory = {sizeof(probe_factory), "probe", answer, calls, services};

halogen_status start(halogen_error* error) {
  halogen_thread* thread = nullptr;
  return host.table()->thread_start(host.table(), "probe-worker", work, nullptr, &thread, error);
}
void stop() {
  ending = true;
}
const void* factory_of(const char*) {
  return &factory;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.example.probe", "Threads", "1.0.0", "Apache-2.0", host, start, stop,
                      factory_of);
