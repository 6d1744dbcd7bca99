/* halogen SDK: the services a plugin gets from the host.
 *
 * The table is handed to the plugin's init and stays valid until its deinit returns. It belongs to
 * one generation of the plugin: when a file is replaced while the server runs, the new copy gets a
 * table of its own. After deinit has begun, post and thread_start answer HALOGEN_E_CANCELLED.
 */
#ifndef HALOGEN_HOST_H
#define HALOGEN_HOST_H

#include "halogen/base.h"

HALOGEN_BEGIN

typedef struct halogen_host halogen_host;
typedef struct halogen_thread halogen_thread;
typedef struct halogen_metric halogen_metric;

typedef enum halogen_log_level {
  HALOGEN_LOG_DEBUG = 1,
  HALOGEN_LOG_INFO = 2,
  HALOGEN_LOG_WARNING = 3,
  HALOGEN_LOG_ERROR = 4
} halogen_log_level;

typedef enum halogen_metric_kind {
  HALOGEN_METRIC_COUNTER = 1,  /* only grows; name ends in _total */
  HALOGEN_METRIC_GAUGE = 2,    /* goes up and down */
  HALOGEN_METRIC_HISTOGRAM = 3 /* observed seconds or sizes; the host chooses the buckets */
} halogen_metric_kind;

typedef void (*halogen_run)(void* argument);

struct halogen_host {
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  void* context; /* the host's; not for plugins */

  /* [any] Whether a message of this level would be written; ask before formatting a costly one. */
  bool (*log_enabled)(const halogen_host* host, halogen_log_level level);
  /* [any] Writes one line, marked with the plugin's id. The message is copied. */
  void (*log)(const halogen_host* host, halogen_log_level level, halogen_string message);

  /* [worker] Makes, or finds again, a metric shown at /metrics. `name` follows Prometheus' rules
   * and gets the prefix "halogen_"; `labels` is `key="value",…` or null. The host owns it and drops
   * it when the plugin is unloaded. Null on a malformed name. */
  halogen_metric* (*metric_create)(const halogen_host* host, halogen_metric_kind kind,
                                   const char* name, const char* help, const char* labels);
  /* [any] Lock-free. A null metric is ignored, so that a plugin need not check. */
  void (*metric_add)(halogen_metric* metric, double amount);    /* counters and gauges */
  void (*metric_set)(halogen_metric* metric, double value);     /* gauges */
  void (*metric_observe)(halogen_metric* metric, double value); /* histograms */

  /* [worker] Starts a thread that the host knows and will join before it unloads the plugin. `name`
   * (15 bytes at most) shows in the system's tools. The thread must end soon after deinit asks it
   * to. */
  halogen_status (*thread_start)(const halogen_host* host, const char* name, halogen_run run,
                                 void* argument, halogen_thread** thread, halogen_error* error);
  /* [worker] Waits for the thread and frees the handle; once for each thread_start. */
  void (*thread_join)(const halogen_host* host, halogen_thread* thread);

  /* [any] Runs `run` on the host's loop thread, soon, once; it must not block. All that was posted
   * before deinit runs before the plugin is unloaded. */
  halogen_status (*post)(const halogen_host* host, halogen_run run, void* argument);

  /* [any] A further service by id, such as "halogen.something/1", or null where the host has none.
   */
  const void* (*extension)(const halogen_host* host, const char* id);
};

HALOGEN_END

#endif
