/* halogen SDK: backends, which compute.
 *
 * A backend compiles the core's graph into a program, allocates all the memory that serving will
 * use, and then runs steps. A step is plain arrays: nothing in it refers to an object of the core,
 * so that the same calls can cross a process boundary.
 *
 * THE LIFE OF A BACKEND
 *   create → (region_import)* → program_create → kv_create → (step_submit → step_wait)* →
 * kv_destroy → program_destroy → region_release → destroy
 *
 * THE KV POOL is `blocks` blocks of `block_tokens` token positions. Block b of layer l holds, for
 * each kv head, block_tokens rows of key_dim elements, and the same of value_dim elements. A
 * token's slot is block * block_tokens + offset. The canonical layout of a block, which kv_export
 * writes and kv_import reads, is for each layer, in order: K [kv_heads][block_tokens][key_dim] in
 * key_type, then V [kv_heads][block_tokens][value_dim] in value_type. How a backend lays it out
 * inside is its own affair.
 *
 * EXACTNESS. The numbers computed for a sequence are allowed to depend on nothing but its own
 * tokens and positions where the backend sets HALOGEN_BACKEND_BATCH_INVARIANT.
 */
#ifndef HALOGEN_BACKEND_H
#define HALOGEN_BACKEND_H

#include "halogen/base.h"
#include "halogen/config.h"
#include "halogen/graph.h"
#include "halogen/host.h"

HALOGEN_BEGIN

#define HALOGEN_BACKEND_KIND "halogen.backend/1"

typedef struct halogen_backend halogen_backend;
typedef struct halogen_region halogen_region;
typedef struct halogen_program halogen_program;
typedef struct halogen_kv halogen_kv;
typedef struct halogen_states halogen_states;

typedef enum halogen_device_kind {
  HALOGEN_DEVICE_CPU = 1,
  HALOGEN_DEVICE_INTEGRATED_GPU = 2,
  HALOGEN_DEVICE_DISCRETE_GPU = 3,
  HALOGEN_DEVICE_OTHER = 4
} halogen_device_kind;

typedef struct halogen_device {
  uint32_t struct_size;
  halogen_device_kind kind;
  char name[128];
  char pci[32];               /* "0000:c5:00.0", or empty */
  uint64_t memory_bytes;      /* that the device can use; host memory where it is unified */
  uint64_t memory_free_bytes; /* at the time of the call */
  bool unified;               /* the device reads host memory at full speed */
  double bandwidth;           /* bytes per second, measured or nominal; 0 unknown */
} halogen_device;

/* Flags of a factory. */
enum {
  HALOGEN_BACKEND_BATCH_INVARIANT = 1u << 0,
  HALOGEN_BACKEND_READS_MAPPED_FILES = 1u << 1 /* weights may stay in a read-only file mapping */
};

/* Upper bounds of every step, known when a program is made. */
typedef struct halogen_limits {
  uint32_t struct_size;
  uint32_t max_tokens;    /* tokens in a step */
  uint32_t max_sequences; /* sequences in a step */
  uint32_t max_rows;      /* rows wanted out */
  uint32_t max_context;   /* positions of one sequence */
} halogen_limits;

typedef struct halogen_kv_geometry {
  uint32_t struct_size;
  uint32_t block_tokens;
  halogen_type key_type, value_type;
} halogen_kv_geometry;

/* This program's part of a model that is spread over several; world 1 means the whole. */
typedef struct halogen_shard {
  uint32_t struct_size;
  uint32_t rank, world;
  const void* collective; /* a draft collective's table, or null */
} halogen_shard;

/* Where the bytes of graph->weights[i] are: in host memory that outlives the program. */
typedef struct halogen_weight_data {
  const void* data; /* aligned for the type's own scales or floats; no more is promised */
  uint64_t bytes;
  halogen_region* region; /* the imported region that holds it, or null */
} halogen_weight_data;

/* Called while a program is made: fraction done in 0..1 and what is being done. False asks to stop.
 */
typedef bool (*halogen_progress)(void* context, double fraction, const char* what);

typedef struct halogen_program_request {
  uint32_t struct_size;
  const halogen_graph* graph; /* outlives the program */
  const halogen_weight_data*
      weights; /* [graph->n_weights]; the array is borrowed, the bytes stay */
  const halogen_kv_geometry* geometry;
  const halogen_limits* limits;
  const halogen_shard* shard;
  halogen_progress progress; /* may be null */
  void* progress_context;
  /* Since ABI 1.1. [any] Tells the core that the program has a copy of weights[weight] and will not
   * read the original any more; no step that does is running. The core may then give up its memory.
   * Calls come until program_destroy returns, each weight at most once. May be null. */
  void (*weight_release)(void* context, uint32_t weight);
  void* weight_context;
} halogen_program_request;

/* Memory that serving will use, in bytes, beside the weights in place. */
typedef struct halogen_memory_need {
  uint32_t struct_size;
  uint64_t program_bytes;  /* scratch, compiled code, own copies of weights */
  uint64_t kv_block_bytes; /* one block over all layers */
  uint64_t state_slot_bytes;
  /* Since ABI 1.1. Of the request's weights: those that will be released. program_bytes has the
   * copies. */
  uint64_t released_weight_bytes;
} halogen_memory_need;

/* One step. All arrays are the core's and stay unchanged until step_wait has returned for it. */
typedef struct halogen_step {
  uint32_t struct_size;
  uint32_t n_tokens, n_sequences, n_rows;
  const int32_t* token_ids; /* [n_tokens], grouped by sequence */
  const int32_t* positions; /* [n_tokens] */
  const uint32_t* kv_slots; /* [n_tokens]: where this token's K and V go */
  const uint32_t*
      sequence_starts; /* [n_sequences + 1]: sequence s has tokens starts[s] to starts[s+1] */
  const uint32_t* context_lengths; /* [n_sequences]: positions in the KV pool after this step */
  const uint32_t* block_tables;    /* [n_sequences, block_table_stride] */
  uint32_t block_table_stride;
  const uint32_t* state_slots; /* [n_sequences], or null where the graph has no state */
  const int32_t* rows;         /* [n_rows]: indices of the tokens whose outputs are wanted */
  float* logits; /* [n_rows, vocabulary_size] out; null only for graphs without logits */
  float* hidden; /* [n_rows, hidden_size] out, or null; only for graphs that have it */
} halogen_step;

/* What the last finished step cost. */
typedef struct halogen_counters {
  uint32_t struct_size;
  uint64_t bytes;       /* read and written by the operators: weights, KV, activations */
  uint64_t operations;  /* multiply-adds count as two */
  uint64_t submissions; /* to the device or its worker threads */
  double device_seconds;
  /* Since ABI 1.1. Of weights that the backend still brings into an order of its own, while steps
   * run; at 0 they run as fast as they will. */
  uint64_t pending_weight_bytes;
} halogen_counters;

typedef struct halogen_backend_factory {
  uint32_t struct_size;
  const char* name; /* what a profile calls it: "cpu" */
  uint32_t flags;
  uint32_t n_config_keys;
  const halogen_config_key* const* config_keys;

  /* [worker] Describes device `index`, counted from 0; HALOGEN_E_NOT_FOUND past the last one. The
   * caller sets struct_size. No driver is another error, which says what to install. */
  halogen_status (*device_at)(uint32_t index, halogen_device* device, halogen_error* error);
  /* [worker] Fails with a clear reason where there is no driver or device. */
  halogen_status (*create)(const halogen_config* config, halogen_backend** backend,
                           halogen_error* error);
  /* [worker] Everything made from it is already destroyed; returns when nothing runs any more. */
  void (*destroy)(halogen_backend* backend);

  /* [any] Whether the backend can run `node` of `graph`; the core asks for every node before it
   * reads a weight. HALOGEN_E_UNSUPPORTED with a message that names operator and types. */
  halogen_status (*supports)(const halogen_backend* backend, const halogen_graph* graph,
                             const halogen_node* node, halogen_error* error);

  /* [worker] Optional (may be null): makes host memory addressable for the device, without a copy.
   * The range is page-aligned and outlives the region. */
  halogen_status (*region_import)(halogen_backend* backend, const void* data, uint64_t bytes,
                                  halogen_region** region, halogen_error* error);
  void (*region_release)(halogen_backend* backend, halogen_region* region);

  /* [any] What program_create and kv_create would need for this request (weights may be null). */
  halogen_status (*memory_need)(const halogen_backend* backend,
                                const halogen_program_request* request, halogen_memory_need* need,
                                halogen_error* error);
  /* [worker] Compiles, allocates and warms up. HALOGEN_E_CANCELLED when progress said so. */
  halogen_status (*program_create)(halogen_backend* backend, const halogen_program_request* request,
                                   halogen_program** program, halogen_error* error);
  void (*program_destroy)(halogen_program* program);

  /* [worker] The KV pool and the recurrent states: all the memory serving will use, touched once.
   */
  halogen_status (*kv_create)(halogen_program* program, uint32_t blocks, halogen_kv** kv,
                              halogen_error* error);
  void (*kv_destroy)(halogen_kv* kv);
  halogen_status (*states_create)(
      halogen_program* program, uint32_t slots, halogen_states** states,
      halogen_error* error); /* null where recurrent layers are unsupported */
  void (*states_destroy)(halogen_states* states);

  /* [device] Copies whole blocks inside the pool: to[i] becomes a copy of from[i]. */
  halogen_status (*kv_copy)(halogen_kv* kv, const uint32_t* from, const uint32_t* to,
                            uint32_t count, halogen_error* error);
  /* [device] Writes or reads one block in the canonical layout; `bytes` must equal kv_block_bytes.
   */
  halogen_status (*kv_export)(const halogen_kv* kv, uint32_t block, void* data, uint64_t bytes,
                              halogen_error* error);
  halogen_status (*kv_import)(halogen_kv* kv, uint32_t block, const void* data, uint64_t bytes,
                              halogen_error* error);

  /* [device] Starts a step and returns before it is done. The step struct is copied; its arrays are
   * borrowed until step_wait returns. At most two steps of a program are in flight. */
  halogen_status (*step_submit)(halogen_program* program, halogen_kv* kv, halogen_states* states,
                                const halogen_step* step, uint64_t* ticket, halogen_error* error);
  /* [device] Waits until the step is done or `timeout_us` microseconds have passed
   * (HALOGEN_E_TIMEOUT; the step goes on and may be waited for again). */
  halogen_status (*step_wait)(halogen_program* program, uint64_t ticket, uint64_t timeout_us,
                              halogen_error* error);

  /* [device] Changes a key marked live; the value as it would stand in a profile. */
  halogen_status (*option_set)(halogen_backend* backend, const char* key, const char* value,
                               halogen_error* error);
  /* [any] */
  void (*counters)(const halogen_program* program, halogen_counters* counters);
} halogen_backend_factory;

HALOGEN_END

#endif
