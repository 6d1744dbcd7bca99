uvec2 piece_columns(uint piece) { return uvec2(8u * piece, 8u * piece + 4u); }

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Halves block = Halves(row + 34u * (piece / 4u));
  const uint at = 1u + 4u * (piece % 4u);
  const float scale = half_value(block.v[0]);
  first = signed_bytes(uint(block.v[at]) | uint(block.v[at + 1u]) << 16) * scale;
  second = signed_bytes(uint(block.v[at + 2u]) | uint(block.v[at + 3u]) << 16) * scale;
}
