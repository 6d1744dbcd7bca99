/* Uses every service of the host from a static destructor, long after deinit. */
#include <stdio.h>

#include "entry.h"

static const halogen_host* host_table;
static halogen_metric* metric;

static void nothing(void* argument) {
  (void)argument;
}

__attribute__((destructor)) static void call_the_host(void) {
  const halogen_host* host = host_table;
  char text[200];
  halogen_thread* thread = NULL;
  halogen_string line = {text, 0};
  if (!host) return;
  host->metric_add(metric, 1);
  line.size = (size_t)snprintf(
      text, sizeof text, "late: post %d, thread_start %d, log enabled %d, extension %d",
      host->post(host, nothing, NULL),
      host->thread_start(host, "late", nothing, NULL, &thread, NULL),
      host->log_enabled(host, HALOGEN_LOG_INFO), host->extension(host, "org.example.x/1") != NULL);
  host->log(host, HALOGEN_LOG_INFO, line);
}

static halogen_status init(const halogen_host* host, halogen_error* error) {
  (void)error;
  host_table = host;
  metric = host->metric_create(host, HALOGEN_METRIC_COUNTER, "late_total", "Late.", NULL);
  return HALOGEN_OK;
}
static void deinit(void) {}
static int answer(void) {
  return 10;
}

PROBE_ENTRY("Late caller");
