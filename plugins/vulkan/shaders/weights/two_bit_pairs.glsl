// The two-bit parts of Q2_K and Q3_K: 128 elements in 32 bytes, elements 32 c + b in bits 2 c and
// 2 c + 1 of byte b. Piece 16 h + 8 g + w of a superblock: word w of half h, for c = 2 g and 2 g + 1.
uvec2 piece_columns(uint piece) {
  const uint column = 64u * (piece / 8u) + 4u * (piece % 8u);
  return uvec2(column, column + 32u);
}

uint pairs_word(uint piece) { return 8u * (piece / 16u) + piece % 8u; }
uint pairs_shift(uint piece) { return 4u * (piece / 8u % 2u); }

// Span 4 h + 2 g + n of a superblock: half n of the words of half h, for c = 2 g and 2 g + 1.
uvec2 span_columns(uint span) {
  const uint column = 64u * (span / 2u) + 16u * (span % 2u);
  return uvec2(column, column + 32u);
}

uint span_pairs_word(uint span) { return 8u * (span / 4u) + 4u * (span % 2u); }
uint span_pairs_shift(uint span) { return 4u * (span / 2u % 2u); }
