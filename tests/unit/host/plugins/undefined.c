/* Needs a function that nobody has. */
#include "halogen/plugin.h"

int function_that_nobody_has(void);
HALOGEN_EXPORT int halogen_plugin_entry(void) {
  return function_that_nobody_has();
}
