// The compiled shaders, embedded by the build.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halogen::vulkan {

struct Shader {
  std::string_view name;            // as shader_interface.h has it: "matvec_Q4_K"
  std::span<const uint32_t> words;  // SPIR-V
};

// [any] All of them, sorted by name.
std::span<const Shader> all_shaders();
// [any] Null where there is none of that name.
const Shader* find_shader(std::string_view name);

}  // namespace halogen::vulkan
