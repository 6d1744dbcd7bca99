// Parts of blocks that lie at any even address.
uint word_at(Halves block, uint half_index) {
  return uint(block.v[half_index]) | uint(block.v[half_index + 1u]) << 16;
}
uint byte_at(Halves block, uint index) {
  return uint(block.v[index / 2u]) >> 8u * (index % 2u) & 0xffu;
}
uvec4 words_at(Halves block, uint half_index) {
  return uvec4(word_at(block, half_index), word_at(block, half_index + 2u), word_at(block, half_index + 4u),
               word_at(block, half_index + 6u));
}
