// Passes over a row of logits: what a token costs at a vocabulary of a hundred thousand and more.
//
// One set of functions for each instruction set, chosen at run time. All sets give the same bits,
// so that a seed gives the same tokens on every machine: the operations and their order are fixed
// by row_math_passes.h, and the compiler may not fuse them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sampler {

struct RowMath {
  const char* name;

  // Makes every element usable: what is not a number becomes minus infinity, and plus infinity the
  // largest finite number, so that differences stay defined. Returns the largest.
  float (*clean)(float* logits, size_t n);

  // weights[i] = exp((logits[i] - largest) * inverse_temperature), for logits that are not above
  // `largest`; 0 below exp(-87). Relative error about 2e-7 near 1, growing with the distance.
  // Returns the sum.
  double (*weigh)(const float* logits, size_t n, float largest, float inverse_temperature,
                  float* weights);

  // The sum of weights[i] * (logits[i] - largest) over the weights above 0.
  double (*moment)(const float* logits, const float* weights, size_t n, float largest);

  // Count, sum, and sum of squares around `centre`, of the logits above minus infinity.
  struct Spread {
    size_t count;
    double sum, squares;
  };
  Spread (*spread)(const float* logits, size_t n, float centre);

  // The first place at or after `from` whose value is above `bound`, or n.
  size_t (*find_above)(const float* values, size_t from, size_t n, float bound);

  // The same for a value that is at least `bound`.
  size_t (*find_from)(const float* values, size_t from, size_t n, float bound);

  // Writes the places, in order, whose value is at least `bound`, and returns how many.
  size_t (*places_from)(const float* values, size_t n, float bound, int32_t* places);
};

// [any] The best set for this processor.
const RowMath& row_math();

extern const RowMath kPortableRowMath;
#ifdef HALOGEN_SAMPLER_AVX2
extern const RowMath kAvx2RowMath;  // only where the processor has AVX2
#endif

}  // namespace sampler
