// Rounds k or v of the step's tokens to the pool's type and puts them at their slots. A thread takes
// four elements of a head, or a block of 32.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "kv_types.glsl"

layout(constant_id = 1) const uint TYPE = 1u;

layout(push_constant, std430) uniform Constants { KvStoreConstants p; };

void store_floats(Floats x, uint64_t row, uint first) {
  for (uint d = first; d < min(first + 4u, p.head_dim); d++) Floats(row).v[d] = x.v[d];
}

void store_halves(Floats x, uint64_t row, uint first) {
  for (uint d = first; d < min(first + 4u, p.head_dim); d++)
    Halves(row).v[d] = uint16_t(half_bits(x.v[d]));
}

// The element of the block that is furthest from zero.
float furthest(Floats x, uint first) {
  float most = 0.0;
  for (uint i = 0u; i < 32u; i++)
    if (abs(x.v[first + i]) > abs(most)) most = x.v[first + i];
  return most;
}

// The steps of a block are counted with the scale as it is stored, so that what is codes times a
// scale already is stored as it is.
float inverse_of(uint scale) {
  const float step_size = half_value(scale);
  return step_size == 0.0 ? 0.0 : 1.0 / step_size;
}

void store_q8_0(Floats x, uint64_t row, uint first) {
  Halves block = Halves(row + 34u * (first / 32u));
  const uint scale = half_bits(abs(furthest(x, first)) / 127.0);
  const float inverse = inverse_of(scale);
  block.v[0] = uint16_t(scale);
  for (uint i = 0u; i < 16u; i++) {
    const vec2 pair = vec2(x.v[first + 2u * i], x.v[first + 2u * i + 1u]);
    const ivec2 codes = ivec2(clamp(roundEven(pair * inverse), -127.0, 127.0)) & 0xff;
    block.v[1u + i] = uint16_t(codes.x | codes.y << 8);
  }
}

void store_q4_0(Floats x, uint64_t row, uint first) {
  Halves block = Halves(row + 18u * (first / 32u));
  const uint scale = half_bits(furthest(x, first) / -8.0);
  const float inverse = inverse_of(scale);
  block.v[0] = uint16_t(scale);
  for (uint i = 0u; i < 8u; i++) {
    const uint at = first + 2u * i;
    const vec4 four = vec4(x.v[at], x.v[at + 16u], x.v[at + 1u], x.v[at + 17u]);
    const uvec4 codes = uvec4(clamp(roundEven(four * inverse) + 8.0, 0.0, 15.0));
    block.v[1u + i] = uint16_t(codes.x | codes.y << 4 | codes.z << 8 | codes.w << 12);
  }
}

void main() {
  const uint token = gl_WorkGroupID.y;
  if (!in_step(p.count, token)) return;
  const uint width = TYPE == kF32 || TYPE == kF16 ? 4u : 32u;
  const uint per_head = (p.head_dim + width - 1u) / width;
  const uint head = gl_GlobalInvocationID.x / per_head;
  if (head >= p.heads) return;
  const uint first = gl_GlobalInvocationID.x % per_head * width;

  const uint slot = Words(p.kv_slots).v[token];
  const uint64_t block = p.pool + uint64_t(slot / p.block_tokens) * p.block_bytes;
  const uint64_t row = block + uint64_t(head * p.block_tokens + slot % p.block_tokens) * p.row_bytes;
  Floats x = Floats(uint64_t(row_of(p.x, token, p.x_stride)) + 4u * head * p.head_stride);
  switch (TYPE) {
    case kF32: store_floats(x, row, first); break;
    case kF16: store_halves(x, row, first); break;
    case kQ8_0: store_q8_0(x, row, first); break;
    default: store_q4_0(x, row, first); break;
  }
}
