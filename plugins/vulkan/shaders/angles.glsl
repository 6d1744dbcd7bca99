// The angles of positions, by push constants p with the tables of RopeConstants and their `pairs`.
const uint kAdjacent = 1u;     // halogen_rope_pairing
const uint kAngleRows = 256u;  // as shader_interface.h has it

// (cos, sin) of the sum of a coarse and a fine angle.
vec2 angle_of(uint position, uint pair) {
  const vec2 fine = FloatPairs(p.fine_angles).v[position % kAngleRows * p.pairs + pair];
  const vec2 coarse = FloatPairs(p.coarse_angles).v[position / kAngleRows * p.pairs + pair];
  return vec2(coarse.x * fine.x - coarse.y * fine.y, coarse.y * fine.x + coarse.x * fine.y);
}

uvec2 pair_elements(uint pairing, uint pair, uint pairs) {
  return pairing == kAdjacent ? uvec2(2u * pair, 2u * pair + 1u) : uvec2(pair, pair + pairs);
}

vec2 turned_by(vec2 angle, vec2 from) {
  return vec2(from.x * angle.x - from.y * angle.y, from.x * angle.y + from.y * angle.x);
}
