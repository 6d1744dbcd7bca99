// The activation functions and what they gate.
#include "functions.glsl"

layout(constant_id = 1) const uint ACTIVATION = 1u;  // halogen_activation
const uint kSilu = 1u, kGeluTanh = 2u, kGeluErf = 3u, kRelu = 4u, kSigmoid = 5u, kSwigluClamped = 6u;

layout(push_constant, std430) uniform Constants { ActivateConstants p; };

float activation(float x) {
  switch (ACTIVATION) {
    case kSilu: return x * sigmoid_of(x);
    // x (1 + tanh(y)) / 2 is x sigmoid(2 y), which does not cancel for negative x.
    case kGeluTanh: return x * sigmoid_of(1.59576912 * (x + 0.044715 * x * x * x));
    case kGeluErf: return 0.5 * x * (1.0 + erf_of(0.70710678 * x));
    case kRelu: return max(x, 0.0);
    case kSwigluClamped: return x * sigmoid_of(p.alpha * x);
    default: return sigmoid_of(x);
  }
}

// Of one element; `up` is 1 where there is none.
float gated(float gate, float up) {
  if (ACTIVATION == kSwigluClamped) {
    gate = min(gate, p.limit);
    up = clamp(up, -p.limit, p.limit) + 1.0;
  }
  return activation(gate) * up;
}
