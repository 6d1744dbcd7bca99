// Sorts the step's choices by expert and cuts them into tiles. One workgroup does it all.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "expert_tiles.glsl"

layout(push_constant, std430) uniform Constants { GroupConstants p; };

const uint TILE = 64u;  // kMatmulTile of shader_interface.h
const uint kMaxExperts = 1024u;

shared uint choices[kMaxExperts];  // that each expert has
shared uint next[kMaxExperts];     // where its next choice goes

uint expert_of(uint choice) {
  return uint(Ints(p.ids).v[choice / p.used * p.choice_stride + choice % p.used]);
}

void write_tiles() {
  uint n = 0u, first = 0u;
  for (uint expert = 0u; expert < p.experts; expert++) {
    next[expert] = first;
    for (uint at = 0u; at < choices[expert]; at += TILE)
      tiles_of(p.tiles).v[n++] = ExpertTile(expert, first + at, min(choices[expert] - at, TILE));
    first += choices[expert];
  }
  ExpertTilesOf(p.tiles).head = ExpertTiles(n, p.max_tiles);
}

void main() {
  const uint n_choices = Words(p.count).v[0] * p.used;
  for (uint e = lane(); e < p.experts; e += gl_WorkGroupSize.x) choices[e] = 0u;
  barrier();
  for (uint c = lane(); c < n_choices; c += gl_WorkGroupSize.x) atomicAdd(choices[expert_of(c)], 1u);
  barrier();
  if (lane() == 0u) write_tiles();
  barrier();
  Words sorted = Words(p.tiles + 8ul + 12ul * p.max_tiles);
  for (uint c = lane(); c < n_choices; c += gl_WorkGroupSize.x)
    sorted.v[atomicAdd(next[expert_of(c)], 1u)] = c;
}
