/* The entry of the C test plugins: each defines init and deinit, and may define its factory's
 * answer. */
#ifndef HALOGEN_TEST_ENTRY_H
#define HALOGEN_TEST_ENTRY_H

#include "probe.h"

/* Defines the entry around `init`, `deinit` and `answer`, which stand before it. */
#define PROBE_ENTRY(plugin_name)                                                                 \
  static const halogen_host* probe_host;                                                         \
  static int probe_calls(void) {                                                                 \
    return 0;                                                                                    \
  }                                                                                              \
  static const halogen_host* probe_services(void) {                                              \
    return probe_host;                                                                           \
  }                                                                                              \
  static const probe_factory probe_table = {sizeof(probe_factory), "probe", answer, probe_calls, \
                                            probe_services};                                     \
  static halogen_status probe_init(const halogen_host* host, halogen_error* error) {             \
    probe_host = host;                                                                           \
    return init(host, error);                                                                    \
  }                                                                                              \
  static const void* probe_get_factory(const char* kind) {                                       \
    return strcmp(kind, PROBE_KIND) == 0 ? &probe_table : NULL;                                  \
  }                                                                                              \
  static const halogen_plugin_descriptor probe_descriptor = {sizeof(halogen_plugin_descriptor),  \
                                                             "org.example.probe",                \
                                                             plugin_name,                        \
                                                             "1.0.0",                            \
                                                             "Apache-2.0",                       \
                                                             HALOGEN_UNLOAD};                    \
  HALOGEN_EXTERN_C HALOGEN_EXPORT const halogen_plugin halogen_plugin_entry;                     \
  const halogen_plugin halogen_plugin_entry = {sizeof(halogen_plugin),                           \
                                               HALOGEN_ABI_MAJOR,                                \
                                               HALOGEN_ABI_MINOR,                                \
                                               0,                                                \
                                               0,                                                \
                                               &probe_descriptor,                                \
                                               probe_init,                                       \
                                               deinit,                                           \
                                               probe_get_factory}

#endif
