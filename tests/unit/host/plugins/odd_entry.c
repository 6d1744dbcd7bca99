/* An entry that the host must refuse before it calls anything: every function ends the process. */
#include <stdlib.h>

#include "halogen/plugin.h"

static halogen_status init(const halogen_host* host, halogen_error* error) {
  (void)host;
  (void)error;
  abort();
}
static void deinit(void) {
  abort();
}
static const void* get_factory(const char* kind) {
  (void)kind;
  abort();
}

static const halogen_plugin_descriptor descriptor = {sizeof(halogen_plugin_descriptor),
                                                     "org.example.probe",
                                                     "Odd",
                                                     "1.0.0",
                                                     "Apache-2.0",
                                                     HALOGEN_UNLOAD};

#ifndef ODD_DESCRIPTOR
#define ODD_DESCRIPTOR &descriptor
/* Its size and versions are reason enough not to open it at all. */
__attribute__((constructor)) static void open_me(void) {
  abort();
}
#else
extern const halogen_plugin_descriptor* unused_descriptor;
const halogen_plugin_descriptor* unused_descriptor = &descriptor;
#endif

HALOGEN_EXTERN_C HALOGEN_EXPORT const halogen_plugin halogen_plugin_entry;
const halogen_plugin halogen_plugin_entry = {ODD_SIZE,       ODD_MAJOR, 0,      ODD_LEAST_MINOR, 0,
                                             ODD_DESCRIPTOR, init,      deinit, get_factory};
