// Rounds k or v of the step's tokens to the pool's type and puts them at their slots. A thread takes
// four elements of a head, or a block of 32.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint TYPE = 1u;

layout(push_constant, std430) uniform Constants { KvStoreConstants p; };

uint64_t head_address;  // of this thread's head

float element(uint d) { return Floats(head_address).v[d]; }

#include "kv_put.glsl"

void main() {
  const uint token = gl_WorkGroupID.y;
  if (!in_step(p.count, token)) return;
  const uint width = kv_put_width(TYPE), per_head = (p.head_dim + width - 1u) / width;
  const uint head = gl_GlobalInvocationID.x / per_head;
  if (head >= p.heads) return;
  head_address = uint64_t(row_of(p.x, token, p.x_stride)) + 4u * head * p.head_stride;

  const uint slot = Words(p.kv_slots).v[token];
  const uint64_t block = p.pool + uint64_t(slot / p.block_tokens) * p.block_bytes;
  const uint row = head * p.block_tokens + slot % p.block_tokens;
  kv_put(TYPE, p.head_dim, block + uint64_t(row) * p.row_bytes, gl_GlobalInvocationID.x % per_head * width);
}
