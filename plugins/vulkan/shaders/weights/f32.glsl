#define PLAIN_WEIGHTS

uvec2 piece_columns(uint piece) { return uvec2(8u * piece, 8u * piece + 4u); }

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  if ((uint(row) & 15u) == 0u && 8u * piece + 8u <= columns) {
    first = FloatQuads(row).v[2u * piece];
    second = FloatQuads(row).v[2u * piece + 1u];
    return;
  }
  first = second = vec4(0);
  [[unroll]] for (uint i = 0u; i < 4u; i++) {
    if (8u * piece + i < columns) first[i] = Floats(row).v[8u * piece + i];
    if (8u * piece + 4u + i < columns) second[i] = Floats(row).v[8u * piece + 4u + i];
  }
}
