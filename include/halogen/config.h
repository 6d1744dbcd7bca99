/* halogen SDK: the typed settings that a plugin is created with.
 *
 * Each factory lists the keys it understands. The host checks the operator's table (`[backend.cpu]`
 * in the profile, say) against that list before it calls create: an unknown key, a wrong type or a
 * number out of range never reaches the plugin, and the message names file, line and the nearest
 * key of the list. What does reach the plugin is complete: a key the operator left out has its
 * default.
 */
#ifndef HALOGEN_CONFIG_H
#define HALOGEN_CONFIG_H

#include "halogen/base.h"

HALOGEN_BEGIN

typedef enum halogen_config_type {
  HALOGEN_CONFIG_BOOL = 1,
  HALOGEN_CONFIG_INT = 2,    /* int64_t */
  HALOGEN_CONFIG_FLOAT = 3,  /* double */
  HALOGEN_CONFIG_STRING = 4, /* UTF-8; also enumerations, which list their choices */
  HALOGEN_CONFIG_SIZE = 5    /* bytes, int64_t; written as 64M or 2G in a profile */
} halogen_config_type;

/* One key that a factory understands. Static data of the plugin, valid while it is loaded. */
typedef struct halogen_config_key {
  uint32_t struct_size;
  halogen_config_type type;
  const char* name;          /* lower case with underscores */
  const char* default_value; /* as it would be written in a profile: "true", "0", "auto" */
  const char* help;          /* one sentence */
  double minimum, maximum;   /* for numbers; both 0 means no limit */
  const char* choices;       /* for strings: "a|b|c", or null for any text */
  bool live;                 /* option_set may change it while serving */
} halogen_config_key;

/* The values, complete and checked. Borrowed until the create call returns. */
typedef struct halogen_config halogen_config;
struct halogen_config {
  uint32_t struct_size;
  const void* context; /* the host's */
  /* [any] HALOGEN_OK, or HALOGEN_E_NOT_FOUND for a key that the factory did not list, or
   * HALOGEN_E_INVALID where the factory listed it with another type. */
  halogen_status (*get_bool)(const halogen_config* config, const char* key, bool* value);
  halogen_status (*get_int)(const halogen_config* config, const char* key, int64_t* value);
  halogen_status (*get_float)(const halogen_config* config, const char* key, double* value);
  halogen_status (*get_string)(const halogen_config* config, const char* key,
                               halogen_string* value);
  /* [any] Where the operator set the key ("halogen.toml:12"), or "default"; for error messages. */
  const char* (*where)(const halogen_config* config, const char* key);
};

HALOGEN_END

#endif
