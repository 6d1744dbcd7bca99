// The angles of rotary positions as the shaders read them.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "tests/unit/vulkan_shaders/gpu.h"

namespace halogen::vulkan::testing {

// The tables that RopeConstants describes, for unscaled angles.
struct AngleTables {
  std::unique_ptr<Buffer> fine, coarse;

  AngleTables(const Gpu& gpu, uint32_t dims, float base, uint32_t positions) {
    std::vector<float> fine_angles, coarse_angles;
    const auto add_row = [&](std::vector<float>& to, double position) {
      for (uint32_t pair = 0; pair < dims / 2; pair++) {
        const double angle = position * std::pow(double{base}, -2.0 * pair / dims);
        to.push_back(static_cast<float>(std::cos(angle)));
        to.push_back(static_cast<float>(std::sin(angle)));
      }
    };
    for (uint32_t row = 0; row < kAngleRows; row++) add_row(fine_angles, row);
    for (uint32_t row = 0; row <= positions / kAngleRows; row++)
      add_row(coarse_angles, static_cast<double>(row) * kAngleRows);
    fine = gpu.upload(fine_angles);
    coarse = gpu.upload(coarse_angles);
  }
};

}  // namespace halogen::vulkan::testing
