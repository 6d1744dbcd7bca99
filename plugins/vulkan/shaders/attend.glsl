// What the attention shaders share: which positions a token attends to, and where their rows are.
#include "functions.glsl"
#include "kv_types.glsl"

layout(push_constant, std430) uniform Constants { AttendConstants p; };

StepTables step_tables() { return StepOf(p.step).tables; }

// A token attends to positions x to y - 1 of its sequence.
uvec2 positions_seen(StepTables tables, uint token, uint sequence) {
  const uint position = uint(Ints(tables.positions).v[token]);
  const uint window_start = p.window == 0u || position < p.window ? 0u : position - p.window + 1u;
  const uint length = Words(tables.context_lengths).v[sequence];
  uvec2 seen = uvec2(window_start, p.causal != 0u ? min(position + 1u, length) : length);
  if (p.chunk != 0u) {
    const uint chunk_start = position / p.chunk * p.chunk;
    seen = uvec2(max(seen.x, chunk_start), min(seen.y, chunk_start + p.chunk));
  }
  return seen;
}

uint block_of(StepTables tables, uint sequence, uint position, uint block_tokens) {
  return Words(tables.block_tables).v[sequence * tables.block_table_stride + position / block_tokens];
}

float softcapped(float score) {
  return p.softcap == 0.0 ? score : p.softcap * tanh_of(score / p.softcap);
}

// Less than any score, and such that differences stay numbers.
const float kNoScore = -3.0e38;
