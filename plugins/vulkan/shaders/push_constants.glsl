// What a dispatch is told, as the shaders and the host see it: this file is GLSL and C++ at once.
//
// Every uint64_t is a buffer device address; 0 stands for what is absent. Strides and offsets count
// elements unless their name says bytes. Activations are F32 rows of any stride; a row of heads
// holds them one after the other. Nothing here varies from step to step: what does is read from
// StepTables and the arrays that it names, so that a recorded command buffer can be submitted
// again.
#ifndef HALOGEN_PUSH_CONSTANTS
#define HALOGEN_PUSH_CONSTANTS

// Where the step's arrays are, and its counts. The host fills it in before each submit.
struct StepTables {
  uint64_t positions;        // int [n_tokens]
  uint64_t kv_slots;         // uint [n_tokens]: block * block_tokens + offset
  uint64_t token_sequences;  // uint [n_tokens]: the sequence of each token
  uint64_t context_lengths;  // uint [n_sequences]: positions in the KV pool after this step
  uint64_t block_tables;     // uint [n_sequences][block_table_stride]
  uint64_t query_tiles;      // QueryTile [n_query_tiles], for attend_prefill
  uint block_table_stride;
  uint n_tokens;
  uint n_rows;  // wanted out
  uint n_query_tiles;
  uint split_positions;  // attend_decode: positions in a split; a multiple of 32
  uint reserved;
};

// Consecutive tokens of one sequence whose attention one workgroup computes.
struct QueryTile {
  uint sequence;
  uint first_token;  // index into the step's tokens
  uint n_tokens;     // 1 to query_rows / heads
};

// `count` in the structs below is the address of a uint: the rows that there are in this step,
// usually n_tokens or n_rows of StepTables. Workgroups past it end at once.

// embed_<type>: y[t] = scale * table[ids[t]].
struct EmbedConstants {
  uint64_t table;  // of the weight type; 4-byte aligned
  uint64_t ids;    // int [count]
  uint64_t count;
  uint64_t y;
  uint row_bytes;  // of the table
  uint columns;
  uint y_stride;
  float scale;
};

// norm: each of the `vectors` vectors of `columns` elements in a row, by itself. With a residual,
// x + residual is what is normalised; it is also written to `sum`, where that is present. `sum` may
// be x or the residual, and `y` may be x. The result also comes as rows for the _q8 shaders where
// `q8` is present: vectors of 1 to a row, columns a multiple of 32.
struct NormConstants {
  uint64_t x;
  uint64_t residual;  // or 0
  uint64_t weight;    // F32 [columns], or 0
  uint64_t bias;      // F32 [columns], or 0
  uint64_t count;
  uint64_t sum;  // or 0
  uint64_t y;    // or 0
  uint64_t q8;   // or 0
  uint columns;
  uint vector_stride;  // from one vector of a row to the next; the same in all of them
  uint x_stride;
  uint residual_stride;
  uint sum_stride;
  uint y_stride;
  uint q8_stride;  // words
  float epsilon;
  float weight_offset;  // y = normal * (weight + offset) + bias
};

// rope: rotates the first 2 * pairs elements of each head of each row; the rest is copied. `y`
// may be x.
struct RopeConstants {
  uint64_t x;
  uint64_t positions;  // int [count]
  // vec2 (cos, sin) tables [..][pairs]. Position p turns by fine row p % kAngleRows and then by
  // coarse row p / kAngleRows. The coarse ones carry the attention factor.
  uint64_t fine_angles;
  uint64_t coarse_angles;
  uint64_t count;
  uint64_t y;
  uint pairs;
  uint head_dim;
  uint head_stride;  // from one head to the next, in x and y
  uint x_stride;
  uint y_stride;
};

// activate: y = activation(gate) * up, or activation(gate) where there is no up. activate_q8 makes y
// rows for the _q8 shaders: its strides of y count words, columns are a multiple of 32, and gate and
// up are 16-byte aligned, as are their rows.
struct ActivateConstants {
  uint64_t gate;
  uint64_t up;  // or 0
  uint64_t count;
  uint64_t y;
  uint columns;
  uint gate_stride;
  uint up_stride;
  uint y_stride;
  float alpha;  // of SWIGLU_CLAMPED
  float limit;
};

// elementwise: y[c] = f(a[c], b[c % b_columns]); b only where the operation has one.
struct ElementwiseConstants {
  uint64_t a;
  uint64_t b;  // or 0
  uint64_t count;
  uint64_t y;
  uint columns;
  uint b_columns;
  uint a_stride;
  uint b_stride;  // 0: every row has the same b
  uint y_stride;
  float factor;  // what scales, or the cap
};

// copy_rows: row r of y is row rows[r] of x, or row r.
struct CopyConstants {
  uint64_t x;
  uint64_t rows;  // int [count], or 0
  uint64_t count;
  uint64_t y;
  uint columns;
  uint x_stride;
  uint y_stride;
  // Runs: copies `runs` runs of `columns` elements in every row. 1 for a plain copy.
  uint runs;
  uint x_run_stride;
  uint y_run_stride;
};

// matvec_<type> and matmul_<type>: y[t][r] = weights[r] . x[t] + bias[r] + residual[t][r]. The
// residual may be y itself; x may not.
struct LinearConstants {
  uint64_t weights;   // in the file's layout; 4-byte aligned
  uint64_t x;         // 16-byte aligned, as is every row: x_stride is a multiple of 4
  uint64_t bias;      // F32 [rows], or 0
  uint64_t residual;  // or 0
  uint64_t count;
  uint64_t y;
  uint row_bytes;
  uint rows;
  uint columns;
  uint x_stride;
  uint residual_stride;
  uint y_stride;
};

// quantise_q8: inputs as signed bytes, for the shaders with _q8 in their names. Those take the rows
// that this writes as x, the strides in words of 4 bytes; their weights are 16-byte aligned.
struct QuantiseConstants {
  uint64_t x;  // 16-byte aligned, as is every row
  uint64_t count;
  uint64_t y;    // 16-byte aligned
  uint columns;  // a multiple of 32
  uint x_stride;
  uint y_stride;  // at least q8_row_words(columns), a multiple of 4
};

// expert_route: the `used` best experts of each token, best first, and their weights.
struct RouteConstants {
  uint64_t logits;
  uint64_t correction;  // F32 [experts], added for the choice alone; or 0
  uint64_t count;
  uint64_t ids;      // int [count][choice_stride]
  uint64_t weights;  // F32 [count][choice_stride]
  uint experts;
  uint used;
  uint scoring;  // halogen_route_attributes
  uint renormalise;
  uint logits_stride;
  uint choice_stride;
  float scale;
};

// expert_matvec_<type> and expert_matmul_<type>: a product for each choice of each token, with the
// weights and the bias of the expert that was chosen.
struct ExpertLinearConstants {
  uint64_t weights;  // [experts] matrices, in the file's layout; 4-byte aligned
  uint64_t x;        // 16-byte aligned, as is every row
  uint64_t bias;     // F32 [experts][rows], or 0
  uint64_t ids;      // int [count][choice_stride]
  uint64_t tiles;    // ExpertTiles, for expert_matmul
  uint64_t count;
  uint64_t y;
  uint64_t expert_bytes;
  uint row_bytes;
  uint rows;
  uint columns;
  uint used;
  uint choice_stride;
  uint x_stride;
  uint x_choice_stride;  // 0: all choices of a token share its input
  uint y_stride;
  uint y_choice_stride;
};

// expert_group: the choices in the order of their experts, in tiles for expert_matmul.
struct GroupConstants {
  uint64_t ids;  // int [count][choice_stride]
  uint64_t count;
  uint64_t tiles;  // ExpertTiles; expert_tiles_bytes()
  uint experts;    // at most 1024
  uint used;
  uint choice_stride;
  uint max_tiles;
};

// What expert_group writes: this, then ExpertTile [max_tiles], then uint [count * used]: choice c of
// token t as t * used + c, sorted by expert.
struct ExpertTiles {
  uint n_tiles;
  uint max_tiles;
};
struct ExpertTile {
  uint expert;
  uint first;  // into the sorted choices
  uint n_choices;
};

// expert_combine: y[t] = the sum over its choices of weight times x, and the residual.
struct CombineConstants {
  uint64_t x;
  uint64_t weights;   // F32 [count][choice_stride]
  uint64_t residual;  // or 0
  uint64_t count;
  uint64_t y;
  uint columns;
  uint used;
  uint choice_stride;
  uint x_stride;
  uint x_choice_stride;
  uint residual_stride;
  uint y_stride;
};

// kv_store: rounds k or v of each token to the pool's type and puts it at the token's slot. Block b
// begins at pool + b * block_bytes and holds [heads][block_tokens] rows of head_dim elements.
struct KvStoreConstants {
  uint64_t x;
  uint64_t kv_slots;  // uint [count]
  uint64_t count;
  uint64_t pool;  // this layer's K or V; it and its blocks 16-byte aligned
  uint heads;
  uint head_dim;
  uint head_stride;
  uint x_stride;
  uint block_tokens;
  uint row_bytes;
  uint block_bytes;
};

// prepare_heads: norm, rope and kv_store of q, k and v at once. q is changed in place; k and v only
// reach the pool. Heads lie side by side in their rows; those of q and k are of one size.
struct PrepareConstants {
  uint64_t q;
  uint64_t k;
  uint64_t v;
  uint64_t q_weight;       // of the RMS norm of each head, F32 [key_dim]; or 0: no norm
  uint64_t k_weight;       // likewise
  uint64_t fine_angles;    // as for rope; not read where there are no pairs
  uint64_t coarse_angles;
  uint64_t keys;    // as for attention
  uint64_t values;
  uint64_t step;    // StepTables
  uint heads;       // of q
  uint kv_heads;
  uint pairs;
  uint q_stride;
  uint k_stride;
  uint v_stride;
  uint key_block_bytes;
  uint value_block_bytes;
  float epsilon;
  float weight_offset;
};

// attend_decode, attend_prefill and attend_merge. Query head h reads K/V head h / group.
struct AttendConstants {
  uint64_t q;
  uint64_t keys;      // this layer's K: blocks [kv_heads][block_tokens][key_dim]
  uint64_t values;    // this layer's V, likewise
  uint64_t sinks;     // F32 [kv_heads * group], or 0; attend_decode leaves them to attend_merge
  uint64_t step;      // StepTables
  uint64_t partials;  // of attend_decode: attend_partial_floats() floats
  uint64_t y;
  uint kv_heads;
  uint group;  // query heads that share a K/V head
  uint q_stride;
  uint q_head_stride;
  uint y_stride;
  uint key_block_bytes;
  uint value_block_bytes;
  uint max_splits;  // room in `partials`
  uint causal;
  uint window;  // 0: none
  uint chunk;   // 0: none
  float scale;
  float softcap;  // 0: none
};

#endif
