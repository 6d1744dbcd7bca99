/* halogen SDK, DRAFT: collectives, which let several processes compute one model.
 *
 * A draft may change or vanish in any minor version; its kind string carries "draft" for that
 * reason. Sharding is the core's business: a backend only runs its shard and the ALL_REDUCE
 * operator through this table.
 */
#ifndef HALOGEN_DRAFT_COLLECTIVE_H
#define HALOGEN_DRAFT_COLLECTIVE_H

#include "halogen/base.h"
#include "halogen/config.h"
#include "halogen/types.h"

HALOGEN_BEGIN

#define HALOGEN_COLLECTIVE_KIND "halogen.draft.collective/1"

typedef struct halogen_collective halogen_collective;

typedef struct halogen_collective_factory {
  uint32_t struct_size;
  const char* name;
  uint32_t n_config_keys;
  const halogen_config_key* const* config_keys;

  /* [worker] Joins `world` processes as number `rank`; returns when all have joined. */
  halogen_status (*create)(uint32_t rank, uint32_t world, const halogen_config* config,
                           halogen_collective** collective, halogen_error* error);
  void (*destroy)(halogen_collective* collective);

  /* [device] Element-wise sum over all ranks, in place; F32, F16 or BF16. The result is the same
   * bits on every rank. */
  halogen_status (*all_reduce)(halogen_collective* collective, void* data, uint64_t elements,
                               halogen_type type, halogen_error* error);
  /* [device] out [world, bytes] receives every rank's `bytes` in rank order. */
  halogen_status (*all_gather)(halogen_collective* collective, const void* data, uint64_t bytes,
                               void* out, halogen_error* error);
  /* [device] */
  halogen_status (*broadcast)(halogen_collective* collective, void* data, uint64_t bytes,
                              uint32_t root, halogen_error* error);
  halogen_status (*barrier)(halogen_collective* collective, halogen_error* error);
  /* [any] Ends calls in progress on all ranks with HALOGEN_E_CANCELLED. */
  void (*abort)(halogen_collective* collective);
} halogen_collective_factory;

HALOGEN_END

#endif
