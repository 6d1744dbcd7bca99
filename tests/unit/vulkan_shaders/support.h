// Inputs for the shaders, and the comparison of what they give with the reference operators.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/check/reference/random_weights.h"
#include "core/check/reference/tensor.h"
#include "tests/unit/vulkan_shaders/gpu.h"

namespace halogen::vulkan::testing {

using reference::Tensor;

// Rows of floats on the device, padded to quads as the shaders ask for.
struct Rows {
  uint32_t stride;
  std::unique_ptr<Buffer> buffer;

  uint64_t address() const { return buffer->address(); }
};

inline Rows make_rows(const Gpu& gpu, size_t rows, size_t columns) {
  const size_t stride = (columns + 3) / 4 * 4;
  return {static_cast<uint32_t>(stride), gpu.make(rows * stride * sizeof(float))};
}

// Random values, and the same ones as the reference takes them.
struct Values {
  Tensor tensor;
  Rows rows;

  Values(const Gpu& gpu, std::vector<size_t> dims, std::mt19937& random, float deviation = 1.0F)
      : tensor(dims), rows(make_rows(gpu, tensor.rows(), tensor.width())) {
    const std::vector<float> floats =
        reference::random_floats(tensor.values.size(), random, deviation);
    tensor.values.assign(floats.begin(), floats.end());
    const auto to = rows.buffer->as<float>();
    for (size_t i = 0; i < floats.size(); i++)
      to[i / tensor.width() * rows.stride + i % tensor.width()] = floats[i];
  }
};

inline std::unique_ptr<Buffer> upload_count(const Gpu& gpu, size_t count) {
  return gpu.upload(std::vector<uint32_t>{static_cast<uint32_t>(count)});
}

// Every element within the reference's bound of error; the padding untouched.
inline void expect_rows(const Rows& rows, const Tensor& expected, const std::string& what = "") {
  const auto floats = rows.buffer->as<float>();
  for (size_t i = 0; i < expected.values.size(); i++) {
    const size_t row = i / expected.width(), column = i % expected.width();
    const double got = floats[row * rows.stride + column];
    ASSERT_LE(std::fabs(got - expected.values[i]), expected.errors[i])
        << what << " row " << row << " column " << column << ": " << got << " for "
        << expected.values[i];
  }
  for (size_t row = 0; row < expected.rows(); row++)
    for (size_t column = expected.width(); column < rows.stride; column++)
      ASSERT_TRUE(std::isnan(floats[row * rows.stride + column])) << what << " padding written";
}

// Rows of signed bytes, as quantise_q8 describes them: every element within half a step of its run
// of what is expected, and the sums those of the elements.
inline void expect_q8_rows(Buffer& buffer, uint32_t stride_words, const Tensor& expected) {
  const size_t columns = expected.width();
  for (size_t row = 0; row < expected.rows(); row++) {
    const auto* codes = buffer.as<int8_t>().data() + row * stride_words * 4;
    const auto* scales = buffer.as<float>().data() + row * stride_words + columns / 4;
    for (size_t run = 0; run < columns / 16; run++) {
      const double scale = scales[2 * run];
      double sum = 0;
      for (size_t i = 16 * run; i < 16 * run + 16; i++) {
        const double got = codes[i] * scale;
        const size_t at = row * columns + i;
        sum += got;
        ASSERT_NEAR(got, expected.values[at], 0.5001 * scale + expected.errors[at])
            << "row " << row << " column " << i;
      }
      ASSERT_NEAR(scales[2 * run + 1], sum, 1e-5 * (std::fabs(sum) + scale));
    }
  }
}

}  // namespace halogen::vulkan::testing
