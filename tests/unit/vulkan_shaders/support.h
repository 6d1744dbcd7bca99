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

}  // namespace halogen::vulkan::testing
