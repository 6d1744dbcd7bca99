// Rows of 16-bit floats: the format says what two of them in a word are.
#define PLAIN_WEIGHTS

uvec2 piece_columns(uint piece) { return uvec2(8u * piece, 8u * piece + 4u); }

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  uvec4 words = uvec4(0);
  if ((uint(row) & 15u) == 0u && 8u * piece + 8u <= columns) {
    words = WordQuads(row).v[piece];
  } else {
    [[unroll]] for (uint i = 0u; i < 8u; i++) {
      const uint column = 8u * piece + i;
      if (column < columns) words[i / 2u] |= uint(Halves(row).v[column]) << 16u * (i % 2u);
    }
  }
  first = vec4(two_floats(words.x), two_floats(words.y));
  second = vec4(two_floats(words.z), two_floats(words.w));
}
