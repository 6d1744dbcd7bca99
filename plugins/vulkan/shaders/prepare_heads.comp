// All between the projections and attention in one pass: q and k are normed and turned, k and v put
// into the pool. A workgroup takes a head of a token: first come the query heads, then those of K,
// then those of V.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "reduce.glsl"

layout(constant_id = 1) const uint PAIRING = 2u;  // halogen_rope_pairing
layout(constant_id = 2) const uint KEY_TYPE = 1u;
layout(constant_id = 3) const uint VALUE_TYPE = 1u;
layout(constant_id = 4) const uint KEY_DIM = 128u;
layout(constant_id = 5) const uint VALUE_DIM = 128u;
layout(constant_id = 6) const uint BLOCK_TOKENS = 16u;

layout(push_constant, std430) uniform Constants { PrepareConstants p; };

#include "angles.glsl"

shared float head_values[KEY_DIM > VALUE_DIM ? KEY_DIM : VALUE_DIM];

float element(uint d) { return head_values[d]; }

#include "kv_put.glsl"

void load(uint64_t row, uint head, uint dim) {
  for (uint d = lane(); d < dim; d += gl_WorkGroupSize.x) head_values[d] = Floats(row).v[head * dim + d];
  barrier();
}

void norm(uint64_t weight) {
  float squares = 0.0;
  for (uint d = lane(); d < KEY_DIM; d += gl_WorkGroupSize.x) squares += head_values[d] * head_values[d];
  const float root = sqrt(workgroup_sum(squares) / float(KEY_DIM) + p.epsilon);
  for (uint d = lane(); d < KEY_DIM; d += gl_WorkGroupSize.x)
    head_values[d] = head_values[d] / root * (Floats(weight).v[d] + p.weight_offset);
  barrier();
}

void turn(uint position) {
  for (uint pair = lane(); pair < p.pairs; pair += gl_WorkGroupSize.x) {
    const uvec2 at = pair_elements(PAIRING, pair, p.pairs);
    const vec2 turned = turned_by(angle_of(position, pair), vec2(head_values[at.x], head_values[at.y]));
    head_values[at.x] = turned.x;
    head_values[at.y] = turned.y;
  }
  barrier();
}

void put(uint type, uint dim, uint64_t pool, uint block_bytes, uint slot, uint head) {
  const uint width = kv_put_width(type), row = head * BLOCK_TOKENS + slot % BLOCK_TOKENS;
  const uint64_t to = pool + uint64_t(slot / BLOCK_TOKENS) * block_bytes + row * kv_row_bytes(type, dim);
  for (uint first = width * lane(); first < dim; first += width * gl_WorkGroupSize.x)
    kv_put(type, dim, to, first);
}

void main() {
  const StepTables tables = StepOf(p.step).tables;
  const uint token = gl_WorkGroupID.y;
  if (token >= tables.n_tokens) return;
  const uint position = uint(Ints(tables.positions).v[token]);
  const uint slot = Words(tables.kv_slots).v[token];
  uint head = gl_WorkGroupID.x;
  if (head < p.heads) {
    Floats row = row_of(p.q, token, p.q_stride);
    load(uint64_t(row), head, KEY_DIM);
    if (p.q_weight != 0ul) norm(p.q_weight);
    turn(position);
    for (uint d = lane(); d < KEY_DIM; d += gl_WorkGroupSize.x) row.v[head * KEY_DIM + d] = head_values[d];
    return;
  }
  head -= p.heads;
  if (head < p.kv_heads) {
    load(uint64_t(row_of(p.k, token, p.k_stride)), head, KEY_DIM);
    if (p.k_weight != 0ul) norm(p.k_weight);
    turn(position);
    put(KEY_TYPE, KEY_DIM, p.keys, p.key_block_bytes, slot, head);
    return;
  }
  head -= p.kv_heads;
  load(uint64_t(row_of(p.v, token, p.v_stride)), head, VALUE_DIM);
  put(VALUE_TYPE, VALUE_DIM, p.values, p.value_block_bytes, slot, head);
}
