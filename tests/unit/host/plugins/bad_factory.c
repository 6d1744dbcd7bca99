/* A plugin whose factory is wrong: BAD_FACTORY_SIZE bytes long, with BAD_FACTORY_NAME. */
#include "halogen/plugin.h"
#include "halogen/scheduler.h"

static const halogen_scheduler_factory factory = {
    BAD_FACTORY_SIZE, BAD_FACTORY_NAME, 0, NULL, NULL, NULL, NULL};

static halogen_status init(const halogen_host* host, halogen_error* error) {
  (void)host;
  (void)error;
  return HALOGEN_OK;
}
static void deinit(void) {}
static const void* get_factory(const char* kind) {
  return strcmp(kind, HALOGEN_SCHEDULER_KIND) == 0 ? &factory : NULL;
}

static const halogen_plugin_descriptor descriptor = {sizeof(halogen_plugin_descriptor),
                                                     "org.example.probe",
                                                     "Bad factory",
                                                     "1.0.0",
                                                     "Apache-2.0",
                                                     HALOGEN_UNLOAD};

HALOGEN_EXTERN_C HALOGEN_EXPORT const halogen_plugin halogen_plugin_entry;
const halogen_plugin halogen_plugin_entry = {sizeof(halogen_plugin),
                                             HALOGEN_ABI_MAJOR,
                                             HALOGEN_ABI_MINOR,
                                             0,
                                             0,
                                             &descriptor,
                                             init,
                                             deinit,
                                             get_factory};
