// Parts of blocks that lie at any even address.
uint word_at(Halves block, uint half_index) {
  return uint(block.v[half_index]) | uint(block.v[half_index + 1u]) << 16;
}
uint byte_at(Halves block, uint index) {
  return uint(block.v[index / 2u]) >> 8u * (index % 2u) & 0xffu;
}
