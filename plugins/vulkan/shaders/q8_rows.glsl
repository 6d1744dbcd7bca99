// Writes rows of inputs as signed bytes, as q8_inputs.glsl reads them.
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer Codes { uvec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer Scales { vec2 v[]; };

uint packed_bytes(ivec4 codes) {
  const uvec4 bytes = uvec4(codes) & 0xffu;
  return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}

// A run of 16 of a row of `columns`.
void store_q8_run(uint64_t row, uint columns, uint run, vec4 quads[4]) {
  vec4 most = vec4(0);
  [[unroll]] for (uint i = 0u; i < 4u; i++) most = max(most, abs(quads[i]));
  const float scale = max(max(most.x, most.y), max(most.z, most.w)) / 127.0;
  const float inverse = scale == 0.0 ? 0.0 : 1.0 / scale;
  uvec4 words;
  ivec4 sum = ivec4(0);
  [[unroll]] for (uint i = 0u; i < 4u; i++) {
    const ivec4 codes = ivec4(roundEven(clamp(quads[i] * inverse, -127.0, 127.0)));
    words[i] = packed_bytes(codes);
    sum += codes;
  }
  Codes(row).v[run] = words;
  Scales(row + columns).v[run] = vec2(scale, scale * float(sum.x + sum.y + sum.z + sum.w));
}
