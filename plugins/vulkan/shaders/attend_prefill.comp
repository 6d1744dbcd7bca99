// Attention of a tile of tokens, for HEADS query heads that share a K/V head. A row is a head of a
// token: ROWS of them meet POSITIONS positions at a time, whose K and then V stand in shared memory
// (Dao et al. 2022, arXiv:2205.14135).
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
layout(constant_id = 7) const uint ROWS = 32u;
layout(constant_id = 8) const uint POSITIONS = 16u;

const uint THREADS = gl_WorkGroupSize.x;
const uint KEY_QUADS = (KEY_DIM + 3u) / 4u;
const uint VALUE_QUADS = (VALUE_DIM + 3u) / 4u;
const uint TILE_STRIDE = (KEY_QUADS > VALUE_QUADS ? KEY_QUADS : VALUE_QUADS) + 1u;
const uint SHARERS = THREADS / VALUE_QUADS;  // threads that share a quad of V's columns
const uint ROW_STEP = THREADS / POSITIONS;
const uint ROWS_SCORED = (ROWS + ROW_STEP - 1u) / ROW_STEP;
const uint ROWS_EACH = (ROWS + SHARERS - 1u) / SHARERS;

shared vec4 queries[ROWS * KEY_QUADS];
shared vec4 tile[POSITIONS * TILE_STRIDE];  // K, then V
shared float weights[ROWS * POSITIONS];     // scores first
shared uvec2 seen[ROWS];
shared float largest[ROWS];
shared float weight_sum[ROWS];
shared float rescale[ROWS];

vec4 value_sums[ROWS_EACH];  // of rows sharer, sharer + SHARERS, ...

void load_queries(QueryTile q_tile, uint first_head, uint n_heads) {
  for (uint i = lane(); i < ROWS * KEY_QUADS; i += THREADS) {
    const uint row = i / KEY_QUADS, d = i % KEY_QUADS * 4u;
    const uint t = row / HEADS, h = row % HEADS;
    vec4 quad = vec4(0);
    if (t < q_tile.n_tokens && h < n_heads) {
      Floats q = row_of(p.q, q_tile.first_token + t, p.q_stride);
      [[unroll]] for (uint e = 0u; e < 4u; e++)
        if (d + e < KEY_DIM) quad[e] = q.v[(first_head + h) * p.q_head_stride + d + e];
    }
    queries[i] = quad * p.scale;
  }
}

void start_rows(StepTables tables, QueryTile q_tile) {
  for (uint row = lane(); row < ROWS; row += THREADS) {
    const uint t = row / HEADS;
    seen[row] = t < q_tile.n_tokens ? positions_seen(tables, q_tile.first_token + t, q_tile.sequence)
                                    : uvec2(0);
    largest[row] = kNoScore;
    weight_sum[row] = 0.0;
  }
  [[unroll]] for (uint i = 0u; i < ROWS_EACH; i++) value_sums[i] = vec4(0);
}

void load_tile(StepTables tables, uint sequence, uint kv_head, uint first, uint end, bool values) {
  const uint quads = values ? VALUE_QUADS : KEY_QUADS;
  for (uint i = lane(); i < POSITIONS * quads; i += THREADS) {
    const uint position = first + i / quads, quad = i % quads;
    vec4 loaded = vec4(0);
    if (position < end) {
      const uint block = block_of(tables, sequence, position, BLOCK_TOKENS);
      const uint row = kv_head * BLOCK_TOKENS + position % BLOCK_TOKENS;
      loaded = values ? kv_load(VALUE_TYPE, VALUE_DIM,
                                p.values + uint64_t(block) * p.value_block_bytes +
                                    row * kv_row_bytes(VALUE_TYPE, VALUE_DIM),
                                4u * quad)
                      : kv_load(KEY_TYPE, KEY_DIM,
                                p.keys + uint64_t(block) * p.key_block_bytes +
                                    row * kv_row_bytes(KEY_TYPE, KEY_DIM),
                                4u * quad);
    }
    tile[i / quads * TILE_STRIDE + quad] = loaded;
  }
}

// A thread scores one position for every ROW_STEP-th row.
void score_tile(uint first) {
  const uint at = lane() % POSITIONS, first_row = lane() / POSITIONS;
  float scores[ROWS_SCORED];
  [[unroll]] for (uint i = 0u; i < ROWS_SCORED; i++) scores[i] = 0.0;
  for (uint quad = 0u; quad < KEY_QUADS; quad++) {
    const vec4 key = tile[at * TILE_STRIDE + quad];
    [[unroll]] for (uint i = 0u; i < ROWS_SCORED; i++)
      scores[i] += dot(key, queries[min(first_row + i * ROW_STEP, ROWS - 1u) * KEY_QUADS + quad]);
  }
  [[unroll]] for (uint i = 0u; i < ROWS_SCORED; i++) {
    const uint row = first_row + i * ROW_STEP;
    if (row >= ROWS) break;
    const bool present = first + at >= seen[row].x && first + at < seen[row].y;
    weights[row * POSITIONS + at] = present ? softcapped(scores[i]) : kNoScore;
  }
}

// Scores become weights relative to the largest one so far.
void weigh_tile() {
  for (uint row = lane(); row < ROWS; row += THREADS) {
    float most = largest[row], sum = 0.0;
    for (uint at = 0u; at < POSITIONS; at++) most = max(most, weights[row * POSITIONS + at]);
    for (uint at = 0u; at < POSITIONS; at++) {
      const float score = weights[row * POSITIONS + at];
      const float weight = score == kNoScore ? 0.0 : exp(score - most);
      weights[row * POSITIONS + at] = weight;
      sum += weight;
    }
    rescale[row] = exp(largest[row] - most);
    weight_sum[row] = weight_sum[row] * rescale[row] + sum;
    largest[row] = most;
  }
}

void add_values() {
  const uint quad = lane() % VALUE_QUADS, sharer = lane() / VALUE_QUADS;
  if (sharer >= SHARERS) return;
  [[unroll]] for (uint i = 0u; i < ROWS_EACH; i++)
    value_sums[i] *= rescale[min(sharer + i * SHARERS, ROWS - 1u)];
  for (uint at = 0u; at < POSITIONS; at++) {
    const vec4 value = tile[at * TILE_STRIDE + quad];
    [[unroll]] for (uint i = 0u; i < ROWS_EACH; i++)
      value_sums[i] += weights[min(sharer + i * SHARERS, ROWS - 1u) * POSITIONS + at] * value;
  }
}

// One over the sum of the row's weights, the sink among them.
float normaliser(uint row, uint head) {
  if (weight_sum[row] == 0.0) return 0.0;
  if (p.sinks == 0ul) return 1.0 / weight_sum[row];
  const float sink = Floats(p.sinks).v[head], most = max(largest[row], sink);
  const float factor = exp(largest[row] - most);
  return factor / (weight_sum[row] * factor + exp(sink - most));
}

void store_rows(QueryTile q_tile, uint first_head, uint n_heads) {
  const uint quad = lane() % VALUE_QUADS, sharer = lane() / VALUE_QUADS;
  if (sharer >= SHARERS) return;
  [[unroll]] for (uint i = 0u; i < ROWS_EACH; i++) {
    const uint row = sharer + i * SHARERS, t = row / HEADS, h = row % HEADS;
    if (row >= ROWS || t >= q_tile.n_tokens || h >= n_heads) continue;
    Floats y = row_of(p.y, q_tile.first_token + t, p.y_stride);
    const vec4 result = value_sums[i] * normaliser(row, first_head + h);
    [[unroll]] for (uint e = 0u; e < 4u; e++)
      if (4u * quad + e < VALUE_DIM) y.v[(first_head + h) * VALUE_DIM + 4u * quad + e] = result[e];
  }
}

void main() {
  const StepTables tables = step_tables();
  if (gl_WorkGroupID.y >= tables.n_query_tiles) return;
  const QueryTile q_tile = QueryTiles(tables.query_tiles).v[gl_WorkGroupID.y];
  const uint parts = (p.group + HEADS - 1u) / HEADS;
  const uint kv_head = gl_WorkGroupID.x / parts;
  const uint first_of_group = gl_WorkGroupID.x % parts * HEADS;
  const uint first_head = kv_head * p.group + first_of_group;
  const uint n_heads = min(HEADS, p.group - first_of_group);

  load_queries(q_tile, first_head, n_heads);
  start_rows(tables, q_tile);
  barrier();
  // Positions ascend within a sequence: the first token sees the earliest one, the last the latest.
  const uint begin = seen[0].x, end = seen[(q_tile.n_tokens - 1u) * HEADS].y;
  for (uint first = begin; first < end; first += POSITIONS) {
    load_tile(tables, q_tile.sequence, kv_head, first, end, false);
    barrier();
    score_tile(first);
    barrier();
    weigh_tile();
    load_tile(tables, q_tile.sequence, kv_head, first, end, true);
    barrier();
    add_values();
    barrier();
  }
  store_rows(q_tile, first_head, n_heads);
}
