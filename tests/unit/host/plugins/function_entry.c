/* The entry's name is given to a function. */
#include "halogen/plugin.h"

HALOGEN_EXPORT const halogen_plugin* halogen_plugin_entry(void);
const halogen_plugin* halogen_plugin_entry(void) {
  return NULL;
}
