/* The made-up kind of the test plugins: enough to see which copy of the code answers, and to make
 * it use the host's services. */
#ifndef HALOGEN_TEST_PROBE_H
#define HALOGEN_TEST_PROBE_H

#include "halogen/plugin.h"

#define PROBE_KIND "halogen.probe/1"

typedef struct probe_factory {
  uint32_t struct_size;
  const char* name;
  int (*answer)(void);                   /* differs from version to version */
  int (*calls)(void);                    /* how often answer was called: state of this copy */
  const halogen_host* (*services)(void); /* what init was given */
} probe_factory;

#endif
