/* Defines a symbol of GNU_UNIQUE binding, as GCC makes them of static variables of inline functions
 * and templates: one copy in the process, so that its object is never unmapped. Written out, since
 * not every compiler makes them. */
#include "entry.h"

HALOGEN_EXPORT extern int probe_unique;
int probe_unique = 12;
__asm__(".type probe_unique, @gnu_unique_object");

static halogen_status init(const halogen_host* host, halogen_error* error) {
  (void)host;
  (void)error;
  return HALOGEN_OK;
}
static void deinit(void) {}
static int answer(void) {
  return probe_unique;
}

PROBE_ENTRY("Unique");
