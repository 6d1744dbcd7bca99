// The parts of ExpertTiles by its address.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer ExpertTilesOf { ExpertTiles head; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer TilesOf { ExpertTile v[]; };

uint n_tiles(uint64_t tiles) { return ExpertTilesOf(tiles).head.n_tiles; }
TilesOf tiles_of(uint64_t tiles) { return TilesOf(tiles + 8ul); }
Words sorted_choices(uint64_t tiles) {
  return Words(tiles + 8ul + 12ul * ExpertTilesOf(tiles).head.max_tiles);
}
