/* halogen SDK: the operator graph that a backend compiles.
 *
 * The core builds one graph for a loaded model and never changes it; a backend compiles it once and
 * runs it for every step. Nodes stand in an order in which they can be computed. All activations
 * are F32 in meaning; a backend may hold them in less where its self-test still passes.
 *
 * Shapes are written outermost first and stored row-major: the last dimension is contiguous. A
 * negative dimension is symbolic and gets its size from the step.
 */
#ifndef HALOGEN_GRAPH_H
#define HALOGEN_GRAPH_H

#include "halogen/base.h"
#include "halogen/types.h"

HALOGEN_BEGIN

enum { HALOGEN_MAX_DIMS = 4, HALOGEN_MAX_INPUTS = 8, HALOGEN_MAX_OUTPUTS = 4 };

/* Symbolic sizes. */
enum {
  HALOGEN_DIM_TOKENS = -1,    /* tokens in the step */
  HALOGEN_DIM_SEQUENCES = -2, /* sequences in the step */
  HALOGEN_DIM_ROWS = -3       /* rows wanted out */
};

typedef uint32_t halogen_value_id;  /* an index into graph->values */
#define HALOGEN_NO_VALUE UINT32_MAX /* an optional input that is absent */

typedef enum halogen_value_kind {
  HALOGEN_VALUE_RESULT = 1, /* made by a node */
  HALOGEN_VALUE_WEIGHT = 2, /* graph->weights[source] */
  HALOGEN_VALUE_INPUT = 3   /* an array of the step; `source` is a halogen_step_input */
} halogen_value_kind;

typedef enum halogen_step_input {
  HALOGEN_INPUT_TOKEN_IDS = 1, /* I32 [tokens] */
  HALOGEN_INPUT_POSITIONS = 2, /* I32 [tokens] */
  HALOGEN_INPUT_ROWS = 3,      /* I32 [rows]: indices of tokens */
  HALOGEN_INPUT_EMBEDDINGS = 4 /* F32 [tokens, hidden]: in place of token ids (not used yet) */
} halogen_step_input;

typedef struct halogen_value {
  uint32_t struct_size;
  halogen_value_kind kind;
  uint32_t source; /* see halogen_value_kind; for results the node's index */
  halogen_type type;
  uint32_t n_dims;
  int64_t dims[HALOGEN_MAX_DIMS];
  const char* name; /* for printing: "layers.3.attention.q" */
} halogen_value;

/* A weight as the graph sees it; its bytes come with program_create. */
typedef struct halogen_weight {
  uint32_t struct_size;
  halogen_type type;
  uint32_t n_dims;
  int64_t dims[HALOGEN_MAX_DIMS]; /* linear: [out, in]; experts: [experts, out, in]; norm: [n] */
  uint64_t bytes;
  const char* name; /* the role: "layers.3.attention.q.weight" */
} halogen_weight;

/* Operators. "x?" is an input that may be HALOGEN_NO_VALUE. T tokens, H heads, G kv heads, D head
 * dim. */
typedef enum halogen_op {
  HALOGEN_OP_EMBED = 1,  /* ids I32 [T], table [vocabulary, n] -> [T, n], times `scale` */
  HALOGEN_OP_NORM = 2,   /* x [.., n], weight? [n], bias? [n] -> like x; over the last dimension */
  HALOGEN_OP_LINEAR = 3, /* x [.., in], weight [out, in], bias? [out] -> [.., out] */
  HALOGEN_OP_ROPE = 4,   /* x [T, H, D], positions I32 [T], factors? F32 [dims/2] -> like x */
  HALOGEN_OP_ATTEND = 5, /* q [T, H, D], k [T, G, D], v [T, G, Dv], sinks? [H] -> [T, H, Dv]; first
                            appends k and v to the KV pool at the step's slots */
  HALOGEN_OP_GLU = 6,    /* gate [.., n], up [.., n] -> [.., n]: activation(gate) * up */
  HALOGEN_OP_ACTIVATE = 7, /* x -> activation(x) */
  HALOGEN_OP_ADD = 8,      /* a, b -> a + b; b may lack a's leading dimensions */
  HALOGEN_OP_MUL = 9,      /* a, b -> a * b; b may lack a's leading dimensions */
  HALOGEN_OP_SCALE = 10,   /* x -> factor * x */
  HALOGEN_OP_SOFTCAP = 11, /* x -> cap * tanh(x / cap) */
  HALOGEN_OP_MOE_ROUTE =
      12, /* logits [T, E], correction? [E] -> expert ids I32 [T, k], weights [T, k] */
  HALOGEN_OP_MOE_LINEAR =
      13, /* x [T, in] or [T, k, in], weight [E, out, in], ids [T, k], bias? [E, out]
             -> [T, k, out] */
  HALOGEN_OP_MOE_COMBINE = 14, /* x [T, k, n], weights [T, k] -> [T, n] */
  HALOGEN_OP_SELECT_ROWS = 15, /* x [T, n], rows I32 [R] -> [R, n] */
  HALOGEN_OP_POOL = 16,        /* x [T, n] -> [sequences, n] */
  HALOGEN_OP_CONV_STATE = 17, /* x [T, n], kernel [n, width] -> [T, n]: causal depthwise convolution
                                 whose last width - 1 inputs live in the sequence's state slot */
  HALOGEN_OP_GATED_DELTA = 18, /* q, k [T, H, D], v [T, H, Dv], decay [T, H], beta [T, H] -> [T, H,
                                  Dv]; the state [H, D, Dv] lives in the sequence's state slot */
  HALOGEN_OP_ALL_REDUCE = 19,  /* x -> the sum of x over all ranks */
  HALOGEN_OP_RESHAPE = 20,     /* x -> the same elements in the output's shape; a view */
  HALOGEN_OP_SPLIT = 21, /* x [.., n] -> [.., length] from `offset` of the last dimension; a view */
  HALOGEN_OP_CONCAT = 22 /* a [.., n], b [.., m] -> [.., n + m] */
} halogen_op;

typedef enum halogen_norm_kind {
  HALOGEN_NORM_RMS = 1,
  HALOGEN_NORM_LAYER = 2,
  HALOGEN_NORM_L2 = 3
} halogen_norm_kind;

typedef enum halogen_activation {
  HALOGEN_SILU = 1,
  HALOGEN_GELU_TANH = 2,
  HALOGEN_GELU_ERF = 3,
  HALOGEN_RELU = 4,
  HALOGEN_SIGMOID = 5,
  HALOGEN_SWIGLU_CLAMPED =
      6 /* gpt-oss: g = min(gate, limit), u = clamp(up, ±limit), (u + 1) g σ(alpha g) */
} halogen_activation;

/* Which elements of a head are rotated together. */
typedef enum halogen_rope_pairing {
  HALOGEN_ROPE_ADJACENT = 1, /* (0,1), (2,3), … */
  HALOGEN_ROPE_HALVES = 2    /* (0, n/2), (1, n/2 + 1), … */
} halogen_rope_pairing;

typedef enum halogen_rope_scaling {
  HALOGEN_ROPE_PLAIN = 0,
  HALOGEN_ROPE_LINEAR = 1, /* angle / factor */
  HALOGEN_ROPE_YARN = 2,   /* Peng et al. 2023, arXiv:2309.00071 */
  HALOGEN_ROPE_LLAMA3 =
      3 /* Llama 3.1: low frequencies / factor, a smooth band, high ones as they are */
} halogen_rope_scaling;

/* Angle of pair i at position p: p * base^(-2i/dims), changed by `scaling`, divided by factors[i]
 * where the factors input is present. */
typedef struct halogen_rope_attributes {
  halogen_rope_pairing pairing;
  halogen_rope_scaling scaling;
  uint32_t dims; /* rotated elements at the head's start; the rest pass through */
  float base;
  float factor;
  float original_context;
  float low_frequency_factor, high_frequency_factor; /* llama3 */
  float beta_fast, beta_slow;                        /* yarn */
  float attention_factor;                            /* multiplies cos and sin; 1 unless yarn */
  uint32_t yarn_truncate;                            /* round the correction range to whole pairs */
} halogen_rope_attributes;

typedef struct halogen_attend_attributes {
  uint32_t kv_layer; /* index into graph->kv_layers */
  uint32_t causal;   /* 0 for encoders: every token of the step's sequence sees all of them */
  uint32_t window;   /* a token sees itself and window - 1 before it; 0: all before it */
  float scale;       /* multiplies q·k; usually 1/sqrt(D) */
  float softcap;     /* 0: none */
  uint32_t chunk;    /* chunked attention: only positions of the same chunk; 0: none */
} halogen_attend_attributes;

typedef struct halogen_route_attributes {
  uint32_t experts, used;
  uint32_t scoring;     /* 0 softmax over all, then choose; 1 choose, then softmax; 2 sigmoid */
  uint32_t renormalise; /* chosen weights sum to 1 */
  float scale;          /* multiplies the weights */
  uint32_t groups, groups_used; /* group-limited routing; 0: none */
} halogen_route_attributes;

typedef enum halogen_pooling {
  HALOGEN_POOL_MEAN = 1,
  HALOGEN_POOL_FIRST = 2,
  HALOGEN_POOL_LAST = 3
} halogen_pooling;

/* The member that belongs to the node's op; ops that are not named here have no attributes. */
typedef union halogen_attributes {
  struct {
    float scale;
  } embed;
  struct {
    halogen_norm_kind kind;
    float epsilon;
    float weight_offset;
  } norm; /* x̂ * (w + offset) */
  halogen_rope_attributes rope;
  halogen_attend_attributes attend;
  struct {
    halogen_activation activation;
    float alpha, limit;
  } glu; /* GLU and ACTIVATE */
  struct {
    float factor;
  } scale;
  struct {
    float cap;
  } softcap;
  halogen_route_attributes route;
  struct {
    halogen_pooling kind;
  } pool;
  struct {
    uint32_t state_layer;
    uint32_t width;
  } conv;
  struct {
    uint32_t state_layer;
  } delta;
  struct {
    uint64_t offset;
  } split;
  uint64_t reserved[16];
} halogen_attributes;

typedef struct halogen_node {
  uint32_t struct_size;
  halogen_op op;
  int32_t layer; /* the model's layer, for progress and sharding; -1 outside */
  uint32_t n_inputs;
  halogen_value_id inputs[HALOGEN_MAX_INPUTS];
  uint32_t n_outputs;
  halogen_value_id outputs[HALOGEN_MAX_OUTPUTS];
  halogen_attributes attributes;
} halogen_node;

/* What one attention layer keeps of a token: kv_heads * (key_dim + value_dim) elements. */
typedef struct halogen_kv_layer {
  uint32_t struct_size;
  uint32_t kv_heads, key_dim, value_dim;
  uint32_t window; /* positions further back are never read again; 0: all are */
} halogen_kv_layer;

/* What one recurrent layer keeps of a sequence, F32. */
typedef struct halogen_state_layer {
  uint32_t struct_size;
  uint64_t elements;
} halogen_state_layer;

/* Owned by the core; valid until every program made from it is destroyed. */
typedef struct halogen_graph {
  uint32_t struct_size;
  uint32_t n_values, n_nodes, n_weights, n_kv_layers, n_state_layers;
  const halogen_value* const* values;
  const halogen_node* const* nodes;
  const halogen_weight* const* weights;
  const halogen_kv_layer* const* kv_layers;
  const halogen_state_layer* const* state_layers;
  halogen_value_id logits; /* [rows, vocabulary], or HALOGEN_NO_VALUE for an encoder */
  halogen_value_id hidden; /* [rows, hidden] after the last norm, or HALOGEN_NO_VALUE */
  uint32_t vocabulary_size, hidden_size;
} halogen_graph;

HALOGEN_END

#endif
