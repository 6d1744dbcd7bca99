// Chooses experts. A workgroup takes a token: an expert's place is the number of experts that are
// better, so that nothing needs sorting.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "functions.glsl"
#include "reduce.glsl"

layout(push_constant, std430) uniform Constants { RouteConstants p; };

const uint kSoftmax = 0u, kChosenSoftmax = 1u, kSigmoid = 2u;  // scorings
const uint kMaxExperts = 1024u;
const float kLeast = -3.0e38;

shared float scores[kMaxExperts];
shared float merits[kMaxExperts];  // what experts are chosen by

uint place_of(uint expert) {
  uint better = 0u;
  for (uint other = 0u; other < p.experts; other++) {
    const float merit = merits[other];
    if (merit > merits[expert] || (merit == merits[expert] && other < expert)) better++;
  }
  return better;
}

void main() {
  const uint token = gl_WorkGroupID.y;
  if (!in_step(p.count, token)) return;
  Floats logits = row_of(p.logits, token, p.logits_stride);
  float most = kLeast;
  for (uint e = 0u; e < p.experts; e++) most = max(most, logits.v[e]);

  float sum = 0.0;
  for (uint e = lane(); e < p.experts; e += gl_WorkGroupSize.x) {
    scores[e] = p.scoring == kSigmoid ? sigmoid_of(logits.v[e]) : exp(logits.v[e] - most);
    sum += scores[e];
  }
  const float total = p.scoring == kSoftmax ? workgroup_sum(sum) : 1.0;
  for (uint e = lane(); e < p.experts; e += gl_WorkGroupSize.x) {
    scores[e] /= total;
    float merit = p.scoring == kChosenSoftmax ? logits.v[e] : scores[e];
    if (p.correction != 0ul) merit += Floats(p.correction).v[e];
    // What is no number is the worst, so that no two experts share a place.
    merits[e] = isnan(merit) ? kLeast : merit;
  }
  barrier();

  float chosen = 0.0;
  for (uint e = lane(); e < p.experts; e += gl_WorkGroupSize.x)
    if (place_of(e) < p.used) chosen += scores[e];
  chosen = workgroup_sum(chosen);
  const bool normalised = p.scoring == kChosenSoftmax || p.renormalise != 0u;
  const float factor = p.scale / (normalised ? chosen : 1.0);
  for (uint e = lane(); e < p.experts; e += gl_WorkGroupSize.x) {
    const uint place = place_of(e);
    if (place >= p.used) continue;
    Words(p.ids).v[token * p.choice_stride + place] = e;
    row_of(p.weights, token, p.choice_stride).v[place] = scores[e] * factor;
  }
}
