// Compiles shaders for RDNA 3.5 (gfx1151) with RADV's own compiler, on a machine without a GPU.
#pragma once

#include <map>
#include <string>

#include <vulkan/vulkan_core.h>

#include "tests/unit/vulkan_shaders/variants.h"

namespace halogen::vulkan::testing {

// By the names that the driver gives them: "VGPRs", "Spilled VGPRs", "LDS size", ...
using ShaderStatistics = std::map<std::string, uint64_t>;

class Radv {
 public:
  // Throws, with the reason, where the driver is missing or too old; Mesa 24 knows gfx1151.
  Radv();
  ~Radv();
  Radv(const Radv&) = delete;
  Radv& operator=(const Radv&) = delete;

  struct Compiled {
    ShaderStatistics statistics;
    std::string assembly;
  };
  Compiled compile(const Variant& variant);

 private:
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
};

}  // namespace halogen::vulkan::testing
