/* Needs a function that nobody has. */
#include "entry.h"

int function_that_nobody_has(void);

static halogen_status init(const halogen_host* host, halogen_error* error) {
  (void)host;
  (void)error;
  return HALOGEN_OK;
}
static void deinit(void) {}
static int answer(void) {
  return function_that_nobody_has();
}

PROBE_ENTRY("Undefined");
