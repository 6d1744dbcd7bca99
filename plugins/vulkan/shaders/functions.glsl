// Activation functions. What GLSL promises of tanh is too little: it may be inaccurate near 0 and no
// number far from it.
#ifndef HALOGEN_FUNCTIONS
#define HALOGEN_FUNCTIONS

// Below 0.625 an odd polynomial (fitted at Chebyshev nodes, within 2e-8), beyond it from exp.
float tanh_of(float x) {
  const float magnitude = abs(x), square = magnitude * magnitude;
  float polynomial = -0.0061045382172;
  polynomial = polynomial * square + 0.0210033617914;
  polynomial = polynomial * square - 0.0538524389267;
  polynomial = polynomial * square + 0.1333278119564;
  polynomial = polynomial * square - 0.3333332836628;
  const float near = magnitude + magnitude * square * polynomial;
  const float far = 1.0 - 2.0 / (exp(2.0 * min(magnitude, 20.0)) + 1.0);
  return sign(x) * (magnitude < 0.625 ? near : far);
}

// 1 / (1 + e^-x), with an exponent that cannot overflow.
float sigmoid_of(float x) { return 1.0 / (1.0 + exp(min(-x, 88.0))); }

// Abramowitz and Stegun 1964, formula 7.1.26: within 1.5e-7.
float erf_of(float x) {
  const float t = 1.0 / (1.0 + 0.3275911 * abs(x));
  const float polynomial =
      ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return sign(x) * (1.0 - polynomial * exp(-x * x));
}

#endif
