// Attention of single tokens over one split of their positions, for HEADS query heads that share a
// K/V head, so that K and V are read once for all of them.
//
// The workgroup takes as many positions at a time as it has threads. Each thread scores one of them;
// then the threads turn to the columns of V, in quads, and share the positions between them as far
// as there are more threads than quads. Maximum and sum are kept up to date on the way (Milakov and
// Gimelshein 2018, arXiv:1805.02867).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "attend.glsl"

layout(constant_id = 1) const uint KEY_TYPE = 1u;
layout(constant_id = 2) const uint VALUE_TYPE = 1u;
layout(constant_id = 3) const uint KEY_DIM = 128u;
layout(constant_id = 4) const uint VALUE_DIM = 128u;
layout(constant_id = 5) const uint BLOCK_TOKENS = 16u;
layout(constant_id = 6) const uint HEADS = 4u;
layout(constant_id = 7) const uint SUBGROUP_FLOOR = 1u;

const uint THREADS = gl_WorkGroupSize.x;
const uint SUBGROUPS = (THREADS + SUBGROUP_FLOOR - 1u) / SUBGROUP_FLOOR;
const uint KEY_QUADS = (KEY_DIM + 3u) / 4u;
const uint VALUE_QUADS = (VALUE_DIM + 3u) / 4u;
const uint SHARERS = THREADS / VALUE_QUADS;  // threads that share a quad of V's columns

shared vec4 queries[HEADS * KEY_QUADS];
shared float weights[HEADS * THREADS];  // of the positions at hand
shared uint64_t value_rows[THREADS];
shared float subgroup_results[HEADS * SUBGROUPS];
shared vec4 shared_sums[THREADS];

// This thread's, of each head.
float largest[HEADS];
float weight_sum[HEADS];
vec4 value_sums[HEADS];

void load_queries(uint token, uint first_head, uint n_heads) {
  Floats q = row_of(p.q, token, p.q_stride);
  for (uint i = lane(); i < HEADS * KEY_QUADS; i += THREADS) {
    const uint h = i / KEY_QUADS, d = i % KEY_QUADS * 4u;
    vec4 quad = vec4(0);
    [[unroll]] for (uint e = 0u; e < 4u; e++)
      if (h < n_heads && d + e < KEY_DIM) quad[e] = q.v[(first_head + h) * p.q_head_stride + d + e];
    queries[i] = quad * p.scale;
  }
}

// Scores of one position, softcapped.
float scores[HEADS];

void score(uint64_t key_row) {
  const uint kAtOnce = 4u;  // quads that are on their way from memory
  [[unroll]] for (uint h = 0u; h < HEADS; h++) scores[h] = 0.0;
  for (uint first = 0u; first < KEY_QUADS; first += kAtOnce) {
    vec4 key[kAtOnce];
    [[unroll]] for (uint i = 0u; i < kAtOnce; i++)
      key[i] = KEY_QUADS % kAtOnce == 0u || first + i < KEY_QUADS
                   ? kv_load(KEY_TYPE, KEY_DIM, key_row, 4u * (first + i))
                   : vec4(0);
    [[unroll]] for (uint i = 0u; i < kAtOnce; i++)
      [[unroll]] for (uint h = 0u; h < HEADS; h++)
        scores[h] += dot(key[i], queries[h * KEY_QUADS + min(first + i, KEY_QUADS - 1u)]);
  }
  [[unroll]] for (uint h = 0u; h < HEADS; h++) scores[h] = softcapped(scores[h]);
}

// Weights of the positions at hand relative to the largest score so far; what was summed before is
// brought to the same measure.
void weigh(bool present) {
  [[unroll]] for (uint h = 0u; h < HEADS; h++) {
    const float most = subgroupMax(present ? scores[h] : kNoScore);
    if (subgroupElect()) subgroup_results[h * SUBGROUPS + gl_SubgroupID] = most;
  }
  barrier();
  [[unroll]] for (uint h = 0u; h < HEADS; h++) {
    float most = largest[h];
    for (uint s = 0u; s < gl_NumSubgroups; s++) most = max(most, subgroup_results[h * SUBGROUPS + s]);
    const float weight = present ? exp(scores[h] - most) : 0.0;
    const float rescale = exp(largest[h] - most);
    weights[h * THREADS + lane()] = weight;
    weight_sum[h] = weight_sum[h] * rescale + weight;
    value_sums[h] *= rescale;
    largest[h] = most;
  }
}

void add_values(uint n_positions) {
  const uint quad = lane() % VALUE_QUADS, sharer = lane() / VALUE_QUADS;
  if (sharer >= SHARERS) return;
  for (uint i = sharer; i < n_positions; i += SHARERS) {
    const vec4 value = kv_load(VALUE_TYPE, VALUE_DIM, value_rows[i], 4u * quad);
    [[unroll]] for (uint h = 0u; h < HEADS; h++) value_sums[h] += weights[h * THREADS + i] * value;
  }
}

// Brings together what the threads have, and writes VALUE_DIM sums, the largest score and the sum of
// the weights.
void finish(uint token, uint first_head, uint n_heads, uint split) {
  [[unroll]] for (uint h = 0u; h < HEADS; h++) {
    barrier();
    const float subgroup_weight = subgroupAdd(weight_sum[h]);
    if (subgroupElect()) subgroup_results[gl_SubgroupID] = subgroup_weight;
    shared_sums[lane()] = value_sums[h];
    barrier();
    const uint entry = (token * p.kv_heads * p.group + first_head + h) * p.max_splits + split;
    Floats partial = row_of(p.partials, entry, VALUE_DIM + 2u);
    if (h < n_heads && lane() < VALUE_QUADS) {
      vec4 sum = vec4(0);
      for (uint s = 0u; s < SHARERS; s++) sum += shared_sums[s * VALUE_QUADS + lane()];
      [[unroll]] for (uint e = 0u; e < 4u; e++)
        if (4u * lane() + e < VALUE_DIM) partial.v[4u * lane() + e] = sum[e];
    }
    if (h < n_heads && lane() == 0u) {
      float sum = 0.0;
      for (uint s = 0u; s < gl_NumSubgroups; s++) sum += subgroup_results[s];
      partial.v[VALUE_DIM] = largest[h];
      partial.v[VALUE_DIM + 1u] = sum;
    }
  }
}

void main() {
  const StepTables tables = step_tables();
  const uint token = gl_WorkGroupID.y, split = gl_WorkGroupID.z;
  if (token >= tables.n_tokens) return;
  const uint parts = (p.group + HEADS - 1u) / HEADS;
  const uint kv_head = gl_WorkGroupID.x / parts;
  const uint first_of_group = gl_WorkGroupID.x % parts * HEADS;
  const uint first_head = kv_head * p.group + first_of_group;
  const uint n_heads = min(HEADS, p.group - first_of_group);

  const uint sequence = Words(tables.token_sequences).v[token];
  const uvec2 seen = positions_seen(tables, token, sequence);
  const uint begin = max(seen.x, split * tables.split_positions);
  const uint end = min(seen.y, (split + 1u) * tables.split_positions);
  if (begin >= end) return;

  load_queries(token, first_head, n_heads);
  [[unroll]] for (uint h = 0u; h < HEADS; h++) {
    largest[h] = kNoScore;
    weight_sum[h] = 0.0;
    value_sums[h] = vec4(0);
  }
  barrier();
  for (uint base = begin; base < end; base += THREADS) {
    const uint position = base + lane();
    const bool present = position < end;
    uint64_t value_row = 0ul;
    if (present) {
      const uint block = block_of(tables, sequence, position, BLOCK_TOKENS);
      const uint row = kv_head * BLOCK_TOKENS + position % BLOCK_TOKENS;
      score(p.keys + uint64_t(block) * p.key_block_bytes + row * kv_row_bytes(KEY_TYPE, KEY_DIM));
      value_row = p.values + uint64_t(block) * p.value_block_bytes + row * kv_row_bytes(VALUE_TYPE, VALUE_DIM);
    }
    weigh(present);  // has a barrier before it writes what add_values reads
    value_rows[lane()] = value_row;
    barrier();
    add_values(min(THREADS, end - base));
  }
  finish(token, first_head, n_heads, split);
}
