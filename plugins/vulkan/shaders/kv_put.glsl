// Rounds rows to the KV pool's types. The shader says what the row's elements are:
//   float element(uint d)
#include "kv_types.glsl"

void store_floats(uint64_t row, uint dim, uint first) {
  for (uint d = first; d < min(first + 4u, dim); d++) Floats(row).v[d] = element(d);
}

void store_halves(uint64_t row, uint dim, uint first) {
  for (uint d = first; d < min(first + 4u, dim); d++)
    Halves(row).v[d] = uint16_t(half_bits(element(d)));
}

// The element of the block that is furthest from zero.
float furthest(uint first) {
  float most = 0.0;
  for (uint i = 0u; i < 32u; i++)
    if (abs(element(first + i)) > abs(most)) most = element(first + i);
  return most;
}

// The steps of a block are counted with the scale as it is stored, so that what is codes times a
// scale already is stored as it is.
float inverse_of(uint scale) {
  const float step_size = half_value(scale);
  return step_size == 0.0 ? 0.0 : 1.0 / step_size;
}

void store_q8_0(uint64_t row, uint first) {
  Halves block = Halves(row + 34u * (first / 32u));
  const uint scale = half_bits(abs(furthest(first)) / 127.0);
  const float inverse = inverse_of(scale);
  block.v[0] = uint16_t(scale);
  for (uint i = 0u; i < 16u; i++) {
    const vec2 pair = vec2(element(first + 2u * i), element(first + 2u * i + 1u));
    const ivec2 codes = ivec2(clamp(roundEven(pair * inverse), -127.0, 127.0)) & 0xff;
    block.v[1u + i] = uint16_t(codes.x | codes.y << 8);
  }
}

void store_q4_0(uint64_t row, uint first) {
  Halves block = Halves(row + 18u * (first / 32u));
  const uint scale = half_bits(furthest(first) / -8.0);
  const float inverse = inverse_of(scale);
  block.v[0] = uint16_t(scale);
  for (uint i = 0u; i < 8u; i++) {
    const uint at = first + 2u * i;
    const vec4 four = vec4(element(at), element(at + 16u), element(at + 1u), element(at + 17u));
    const uvec4 codes = uvec4(clamp(roundEven(four * inverse) + 8.0, 0.0, 15.0));
    block.v[1u + i] = uint16_t(codes.x | codes.y << 4 | codes.z << 8 | codes.w << 12);
  }
}

// Elements of a row that kv_put stores at a time.
uint kv_put_width(uint type) { return type == kF32 || type == kF16 ? 4u : 32u; }

// kv_put_width elements from `first` on, or what the row has of them.
void kv_put(uint type, uint dim, uint64_t row, uint first) {
  switch (type) {
    case kF32: store_floats(row, dim, first); break;
    case kF16: store_halves(row, dim, first); break;
    case kQ8_0: store_q8_0(row, first); break;
    default: store_q4_0(row, first); break;
  }
}
