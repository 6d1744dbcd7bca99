// A plugin whose init fails as BAD_INIT says, after it has already taken something from the host.
#include <stdexcept>

#include "halogen/plugin.h"

namespace {

halogen_status init(const halogen_host* host, halogen_error* error) {
  host->metric_create(host, HALOGEN_METRIC_GAUGE, "probe_half_made", "Left behind.", nullptr);
#ifdef BAD_INIT_THROWS
  (void)error;
  throw std::runtime_error("no such luck");
#else
  return halogen_fail(error, HALOGEN_E_UNSUPPORTED, "no driver; install one");
#endif
}
// The host does not call it after a failed init.
void deinit() {
  std::terminate();
}
const void* get_factory(const char*) {
  return nullptr;
}

const halogen_plugin_descriptor descriptor = {sizeof(halogen_plugin_descriptor),
                                              "org.example.probe",
                                              "Bad init",
                                              "1.0.0",
                                              "Apache-2.0",
                                              HALOGEN_UNLOAD};

}  // namespace

extern "C" HALOGEN_EXPORT const halogen_plugin halogen_plugin_entry;
const halogen_plugin halogen_plugin_entry = {sizeof(halogen_plugin),
                                             HALOGEN_ABI_MAJOR,
                                             HALOGEN_ABI_MINOR,
                                             0,
                                             0,
                                             &descriptor,
                                             init,
                                             deinit,
                                             get_factory};
