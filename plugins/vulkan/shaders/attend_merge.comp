// Brings the splits of attend_decode together, with the sinks. A workgroup takes a head of a token.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "attend.glsl"

layout(constant_id = 1) const uint VALUE_DIM = 128u;

void main() {
  const StepTables tables = step_tables();
  const uint head = gl_WorkGroupID.x, token = gl_WorkGroupID.y;
  if (token >= tables.n_tokens) return;
  const uvec2 seen = positions_seen(tables, token, Words(tables.token_sequences).v[token]);
  const uint begin = seen.x / tables.split_positions;
  const uint end = (seen.y + tables.split_positions - 1u) / tables.split_positions;
  const bool nothing = seen.x >= seen.y;
  const uint first_entry = (token * p.kv_heads * p.group + head) * p.max_splits;

  float most = kNoScore;
  for (uint split = begin; split < end && !nothing; split++)
    most = max(most, row_of(p.partials, first_entry + split, VALUE_DIM + 2u).v[VALUE_DIM]);
  float total = 0.0;
  if (p.sinks != 0ul) {
    const float sink = Floats(p.sinks).v[head];
    most = max(most, sink);
    total = exp(sink - most);
  }
  for (uint split = begin; split < end && !nothing; split++) {
    Floats partial = row_of(p.partials, first_entry + split, VALUE_DIM + 2u);
    total += partial.v[VALUE_DIM + 1u] * exp(partial.v[VALUE_DIM] - most);
  }
  for (uint d = lane(); d < VALUE_DIM; d += gl_WorkGroupSize.x) {
    float sum = 0.0;
    for (uint split = begin; split < end && !nothing; split++) {
      Floats partial = row_of(p.partials, first_entry + split, VALUE_DIM + 2u);
      sum += partial.v[d] * exp(partial.v[VALUE_DIM] - most);
    }
    row_of(p.y, token, p.y_stride).v[head * VALUE_DIM + d] = nothing ? 0.0 : sum / total;
  }
}
