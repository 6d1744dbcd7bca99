/* halogen SDK: the entry of a plugin, the one symbol that a shared object exports.
 *
 *   HALOGEN_EXTERN_C HALOGEN_EXPORT const halogen_plugin halogen_plugin_entry = { ... };
 *
 * The host reads struct_size, the versions and the descriptor before it calls anything. Then, in
 * order: init once, get_factory any number of times, deinit once. A shared object has no work in
 * its static constructors: a file that is only looked at must do nothing.
 */
#ifndef HALOGEN_PLUGIN_H
#define HALOGEN_PLUGIN_H

#include "halogen/base.h"
#include "halogen/host.h"

HALOGEN_BEGIN

#define HALOGEN_PLUGIN_SYMBOL "halogen_plugin_entry"

/* What the host does with the shared object after deinit. */
typedef enum halogen_unload_policy {
  HALOGEN_UNLOAD = 1, /* dlclose, and verify that no mapping is left */
  HALOGEN_RESIDENT =
      2 /* stays mapped for the life of the process; for code that cannot be unloaded */
} halogen_unload_policy;

typedef struct halogen_plugin_descriptor {
  uint32_t struct_size;
  const char* id;      /* reverse DNS, the same as in the manifest: "org.halogen.cpu" */
  const char* name;    /* what a person reads: "CPU backend" */
  const char* version; /* of the plugin, "1.2.3" */
  const char* licence; /* SPDX expression */
  halogen_unload_policy unload;
} halogen_plugin_descriptor;

typedef struct halogen_plugin {
  uint32_t struct_size;
  uint16_t abi_major;        /* HALOGEN_ABI_MAJOR of the headers it was built with */
  uint16_t abi_minor;        /* HALOGEN_ABI_MINOR of the same */
  uint16_t least_host_minor; /* the lowest host minor it works with; usually 0 */
  uint16_t reserved;
  const halogen_plugin_descriptor* descriptor;

  /* [worker] Keeps `host` and prepares what all factories share. On failure deinit is not called.
   */
  halogen_status (*init)(const halogen_host* host, halogen_error* error);
  /* [worker] Everything made by the factories is already destroyed. Ends and joins all own threads.
   */
  void (*deinit)(void);
  /* [any] The factory of a kind ("halogen.backend/1"), or null. Static data, valid until deinit. */
  const void* (*get_factory)(const char* kind);
} halogen_plugin;

HALOGEN_END

#endif
