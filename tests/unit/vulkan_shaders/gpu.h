// A Vulkan device to run single shaders on, as little of it as tests need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <vulkan/vulkan_core.h>

#include "plugins/vulkan/shader_interface.h"

namespace halogen::vulkan::testing {

// Memory that host and device see, with words behind its end that nobody may write.
class Buffer {
 public:
  Buffer(VkPhysicalDevice physical, VkDevice device, size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t address() const { return address_; }
  size_t bytes() const { return bytes_; }
  template <typename T>
  std::span<T> as() {
    return {static_cast<T*>(mapped_), bytes_ / sizeof(T)};
  }
  // Whether the words behind the end are as they were.
  bool intact() const;

 private:
  static constexpr size_t kGuardWords = 64;
  static constexpr uint32_t kGuard = 0xfff7beef;  // no number, as a float

  VkDevice device_;
  size_t bytes_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void* mapped_ = nullptr;
  uint64_t address_ = 0;
};

class Gpu {
 public:
  // The first device that can run the shaders, or null and why there is none.
  static Gpu* get(std::string& why_not);
  ~Gpu();

  const std::string& name() const { return name_; }
  bool has_integer_dot() const { return has_integer_dot_; }
  bool has_cooperative_matrices() const { return has_cooperative_matrices_; }
  uint32_t subgroup_size() const { return subgroup_size_; }

  // Filled with what is no number.
  std::unique_ptr<Buffer> make(size_t bytes) const;
  template <typename T>
  std::unique_ptr<Buffer> upload(const std::vector<T>& values) const {
    auto buffer = make(values.size() * sizeof(T));
    if (!values.empty())
      std::memcpy(buffer->template as<T>().data(), values.data(), buffer->bytes());
    return buffer;
  }

  // Runs a shader and waits. Specialization and Constants are those of shader_interface.h.
  template <typename Specialization, typename Constants>
  void run(const std::string& shader, const Specialization& specialization,
           const Constants& constants, Groups groups) {
    static_assert(sizeof(Specialization) % 4 == 0);
    std::vector<uint32_t> values(sizeof(Specialization) / 4);
    std::memcpy(values.data(), &specialization, sizeof specialization);
    dispatch(shader, values, &constants, sizeof constants, groups);
  }

 private:
  Gpu() = default;
  std::string start();
  bool take(VkPhysicalDevice physical);
  VkPipeline pipeline(const std::string& shader, const std::vector<uint32_t>& specialization);
  void dispatch(const std::string& shader, const std::vector<uint32_t>& specialization,
                const void* constants, size_t bytes, Groups groups);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::map<std::pair<std::string, std::vector<uint32_t>>, VkPipeline> pipelines_;
  std::string name_;
  bool has_integer_dot_ = false, has_cooperative_matrices_ = false;
  uint32_t queue_family_ = 0;
  uint32_t subgroup_size_ = 0;
};

// Tests of shaders: skipped, with the reason, where there is no device.
#define HALOGEN_GPU_OR_SKIP(gpu)         \
  std::string why_no_gpu;                \
  Gpu* const gpu = Gpu::get(why_no_gpu); \
  if (!gpu) GTEST_SKIP() << why_no_gpu

}  // namespace halogen::vulkan::testing
