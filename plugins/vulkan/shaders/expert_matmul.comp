// The experts' matrices times the tokens that chose them, in the tiles that expert_group made.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "expert_linear.glsl"
#include "expert_tiles.glsl"

uint first_choice;  // of this workgroup's tile, in the sorted ones

uint token_of(uint i) { return sorted_choices(p.tiles).v[first_choice + i]; }

#include "matmul.glsl"

void main() {
  if (gl_WorkGroupID.y >= n_tiles(p.tiles)) return;
  const ExpertTile tile = tiles_of(p.tiles).v[gl_WorkGroupID.y];
  expert = tile.expert;
  first_choice = tile.first;
  multiply(gl_WorkGroupID.x * TILE, tile.n_choices);
}
