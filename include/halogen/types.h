/* halogen SDK: the element types of tensors.
 *
 * Weights keep the layout of the file they came from. A type is described by how many elements form
 * one block and how many bytes that block takes; rows are whole blocks, and a row of n elements
 * takes n / block_elements * block_bytes bytes. Ids below 256 equal the tensor type ids of the GGUF
 * format (its description and the layouts are part of the ggml documentation); ids from 256 on are
 * halogen's.
 */
#ifndef HALOGEN_TYPES_H
#define HALOGEN_TYPES_H

#include "halogen/base.h"

HALOGEN_BEGIN

typedef uint32_t halogen_type;
enum {
  HALOGEN_F32 = 0,
  HALOGEN_F16 = 1,
  HALOGEN_Q4_0 = 2,
  HALOGEN_Q4_1 = 3,
  HALOGEN_Q5_0 = 6,
  HALOGEN_Q5_1 = 7,
  HALOGEN_Q8_0 = 8,
  HALOGEN_Q8_1 = 9,
  HALOGEN_Q2_K = 10,
  HALOGEN_Q3_K = 11,
  HALOGEN_Q4_K = 12,
  HALOGEN_Q5_K = 13,
  HALOGEN_Q6_K = 14,
  HALOGEN_Q8_K = 15,
  HALOGEN_IQ2_XXS = 16,
  HALOGEN_IQ2_XS = 17,
  HALOGEN_IQ3_XXS = 18,
  HALOGEN_IQ1_S = 19,
  HALOGEN_IQ4_NL = 20,
  HALOGEN_IQ3_S = 21,
  HALOGEN_IQ2_S = 22,
  HALOGEN_IQ4_XS = 23,
  HALOGEN_I8 = 24,
  HALOGEN_I16 = 25,
  HALOGEN_I32 = 26,
  HALOGEN_I64 = 27,
  HALOGEN_F64 = 28,
  HALOGEN_IQ1_M = 29,
  HALOGEN_BF16 = 30,
  HALOGEN_TQ1_0 = 34,
  HALOGEN_TQ2_0 = 35,
  HALOGEN_MXFP4 = 39,
  HALOGEN_NVFP4 = 40,
  HALOGEN_Q1_0 = 41,
  HALOGEN_Q2_0 = 42
};

typedef struct halogen_type_traits {
  halogen_type type;
  const char* name;        /* upper case, as people write it: "Q4_K" */
  uint32_t block_elements; /* elements in a block; 1 for plain types */
  uint32_t block_bytes;    /* bytes of a block */
} halogen_type_traits;

/* [any] The traits of a type, or null for an id that is not in the list above. */
static inline const halogen_type_traits* halogen_type_find(halogen_type type) {
  static const halogen_type_traits traits[] = {{HALOGEN_F32, "F32", 1, 4},
                                               {HALOGEN_F16, "F16", 1, 2},
                                               {HALOGEN_Q4_0, "Q4_0", 32, 18},
                                               {HALOGEN_Q4_1, "Q4_1", 32, 20},
                                               {HALOGEN_Q5_0, "Q5_0", 32, 22},
                                               {HALOGEN_Q5_1, "Q5_1", 32, 24},
                                               {HALOGEN_Q8_0, "Q8_0", 32, 34},
                                               {HALOGEN_Q8_1, "Q8_1", 32, 36},
                                               {HALOGEN_Q2_K, "Q2_K", 256, 84},
                                               {HALOGEN_Q3_K, "Q3_K", 256, 110},
                                               {HALOGEN_Q4_K, "Q4_K", 256, 144},
                                               {HALOGEN_Q5_K, "Q5_K", 256, 176},
                                               {HALOGEN_Q6_K, "Q6_K", 256, 210},
                                               {HALOGEN_Q8_K, "Q8_K", 256, 292},
                                               {HALOGEN_IQ2_XXS, "IQ2_XXS", 256, 66},
                                               {HALOGEN_IQ2_XS, "IQ2_XS", 256, 74},
                                               {HALOGEN_IQ3_XXS, "IQ3_XXS", 256, 98},
                                               {HALOGEN_IQ1_S, "IQ1_S", 256, 50},
                                               {HALOGEN_IQ4_NL, "IQ4_NL", 32, 18},
                                               {HALOGEN_IQ3_S, "IQ3_S", 256, 110},
                                               {HALOGEN_IQ2_S, "IQ2_S", 256, 82},
                                               {HALOGEN_IQ4_XS, "IQ4_XS", 256, 136},
                                               {HALOGEN_I8, "I8", 1, 1},
                                               {HALOGEN_I16, "I16", 1, 2},
                                               {HALOGEN_I32, "I32", 1, 4},
                                               {HALOGEN_I64, "I64", 1, 8},
                                               {HALOGEN_F64, "F64", 1, 8},
                                               {HALOGEN_IQ1_M, "IQ1_M", 256, 56},
                                               {HALOGEN_BF16, "BF16", 1, 2},
                                               {HALOGEN_TQ1_0, "TQ1_0", 256, 54},
                                               {HALOGEN_TQ2_0, "TQ2_0", 256, 66},
                                               {HALOGEN_MXFP4, "MXFP4", 32, 17},
                                               {HALOGEN_NVFP4, "NVFP4", 64, 36},
                                               {HALOGEN_Q1_0, "Q1_0", 128, 18},
                                               {HALOGEN_Q2_0, "Q2_0", 64, 18}};
  for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++)
    if (traits[i].type == type) return &traits[i];
  return NULL;
}

/* [any] Bytes of a row of `elements`; 0 where the type is unknown or the row is not whole blocks.
 */
static inline uint64_t halogen_row_bytes(halogen_type type, uint64_t elements) {
  const halogen_type_traits* t = halogen_type_find(type);
  if (!t || elements % t->block_elements != 0) return 0;
  return elements / t->block_elements * t->block_bytes;
}

HALOGEN_END

#endif
