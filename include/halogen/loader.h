/* halogen SDK: loaders, which turn a model file or folder into a description of it.
 *
 * A loader never reads a tensor's bytes: it says where they lie and the core brings them into
 * memory once, in the way the chosen backends need. A loader trusts nothing in the file: counts,
 * offsets, sizes, types and names are checked before they are used, and one error names the file
 * and the key or tensor.
 */
#ifndef HALOGEN_LOADER_H
#define HALOGEN_LOADER_H

#include "halogen/base.h"
#include "halogen/config.h"
#include "halogen/graph.h"

HALOGEN_BEGIN

#define HALOGEN_LOADER_KIND "halogen.loader/1"

/* Element kinds of metadata. */
typedef enum halogen_metadata_type {
  HALOGEN_META_U8 = 0,
  HALOGEN_META_I8 = 1,
  HALOGEN_META_U16 = 2,
  HALOGEN_META_I16 = 3,
  HALOGEN_META_U32 = 4,
  HALOGEN_META_I32 = 5,
  HALOGEN_META_F32 = 6,
  HALOGEN_META_BOOL = 7,
  HALOGEN_META_STRING = 8,
  HALOGEN_META_U64 = 10,
  HALOGEN_META_I64 = 11,
  HALOGEN_META_F64 = 12
} halogen_metadata_type;

/* One metadata entry; a scalar is an array of one. Owned by the model, valid until close. */
typedef struct halogen_metadata {
  uint32_t struct_size;
  halogen_metadata_type type;
  bool is_array;
  const char* key;
  uint64_t count;
  const void* data;        /* `count` elements of the type, naturally aligned; null for strings */
  const char* text;        /* strings: all of them one after another, … */
  const uint64_t* offsets; /* … string i being text[offsets[i]] to text[offsets[i + 1]] */
} halogen_metadata;

/* One tensor. Dimensions outermost first. Owned by the model, valid until close. */
typedef struct halogen_tensor {
  uint32_t struct_size;
  halogen_type type;
  uint32_t n_dims;
  int64_t dims[HALOGEN_MAX_DIMS];
  const char* name; /* as the file has it */
  const char* role; /* normalised: "layers.3.attention.q.weight"; equal to name where not known */
  uint32_t file;    /* index of the file that holds it */
  uint64_t offset;  /* of its first byte in that file */
  uint64_t bytes;
} halogen_tensor;

typedef struct halogen_model halogen_model;

typedef struct halogen_loader_factory {
  uint32_t struct_size;
  const char* name; /* what a profile calls it: "gguf" */
  uint32_t n_config_keys;
  const halogen_config_key* const* config_keys;

  /* [worker] How sure the loader is that it reads `path`, 0 (no) to 100, from the file's first
   * bytes (n_first may be 0 for a folder). Cheap: it may look at names, never read the whole file.
   */
  uint32_t (*probe)(const char* path, const uint8_t* first, size_t n_first);

  /* [worker] Validates everything and describes the model. */
  halogen_status (*open)(const char* path, const halogen_config* config, halogen_model** model,
                         halogen_error* error);
  /* [worker] */
  void (*close)(halogen_model* model);

  /* [any] The files that tensors lie in. */
  uint32_t (*file_count)(const halogen_model* model);
  const char* (*file_path)(const halogen_model* model, uint32_t index);

  /* [any] The metadata: first the normalised keys ("halogen.…", see docs/models.md), then the
   * file's own. */
  uint32_t (*metadata_count)(const halogen_model* model);
  const halogen_metadata* (*metadata_at)(const halogen_model* model, uint32_t index);
  /* [any] The entry with this key, or null. */
  const halogen_metadata* (*metadata_find)(const halogen_model* model, const char* key);

  /* [any] The tensors, in the file's order. */
  uint32_t (*tensor_count)(const halogen_model* model);
  const halogen_tensor* (*tensor_at)(const halogen_model* model, uint32_t index);
} halogen_loader_factory;

HALOGEN_END

#endif
