/* Defines a symbol of GNU_UNIQUE binding, as GCC makes them of static variables of inline functions
 * and templates: one copy in the process, so that its object is never unmapped. Written out, since
 * not every compiler makes them. */
#include "entry.h"

HALOGEN_EXPORT extern int probe_unique;
__asm__(
    ".data\n"
    ".balign 4\n"
    ".type probe_unique, @gnu_unique_object\n"
    ".size probe_unique, 4\n"
    "probe_unique: .long 12\n"
    ".previous\n");

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
