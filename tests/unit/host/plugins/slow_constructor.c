/* Is not opened before there is a byte on the descriptor that the environment names. */
#include <stdlib.h>
#include <unistd.h>

#include "entry.h"

__attribute__((constructor)) static void wait_for_byte(void) {
  char byte = 0;
  while (read(atoi(getenv("PROBE_RELEASE_FD")), &byte, 1) < 0) {
  }
}

static halogen_status init(const halogen_host* host, halogen_error* error) {
  (void)host;
  (void)error;
  return HALOGEN_OK;
}
static void deinit(void) {}
static int answer(void) {
  return 9;
}

PROBE_ENTRY("Slow constructor");
