// The steps from an instance to a compute pipeline that the tests' devices share.
#pragma once

#include <string>
#include <vector>

#include <vulkan/vulkan_core.h>

namespace halogen::vulkan::testing {

// A Vulkan struct of its type, everything else zero.
template <typename Struct>
Struct described(VkStructureType type, void* next = nullptr) {
  Struct made{};
  made.sType = type;
  made.pNext = next;
  return made;
}

// Throws, naming the call, unless it succeeded.
void check(VkResult result, const char* what);

// VkPhysicalDeviceCooperativeMatrixFeaturesKHR, which Debian's headers do not have yet.
struct CooperativeMatrixFeatures {
  VkStructureType sType;
  void* pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
};
inline constexpr auto kCooperativeMatrixFeatures = static_cast<VkStructureType>(1000506000);

// What the shaders need of a device; see shader_interface.h.
class ShaderFeatures {
 public:
  explicit ShaderFeatures(void* next = nullptr) : next_(next) {}
  ShaderFeatures(const ShaderFeatures&) = delete;
  ShaderFeatures& operator=(const ShaderFeatures&) = delete;

  // Whether the device has them. Those that are offered are then asked for.
  bool offered_by(VkPhysicalDevice physical);
  // Only the shaders with _q8 in their names need it.
  bool integer_dot() const { return dot_.shaderIntegerDotProduct; }
  // Only the shaders with cooperative in their names need these.
  bool cooperative_matrices() const { return cooperative_.cooperativeMatrix; }
  const void* chain() const { return &all_; }

 private:
  void* next_;
  CooperativeMatrixFeatures cooperative_ =
      described<CooperativeMatrixFeatures>(kCooperativeMatrixFeatures);
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot_ =
      described<VkPhysicalDeviceShaderIntegerDotProductFeatures>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
  VkPhysicalDeviceVulkan12Features v12_ = described<VkPhysicalDeviceVulkan12Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &dot_);
  VkPhysicalDeviceVulkan11Features v11_ = described<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &v12_);
  VkPhysicalDeviceFeatures2 all_ =
      described<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v11_);
};

std::vector<VkPhysicalDevice> physical_devices(VkInstance instance);

VkDevice make_device(VkPhysicalDevice physical, uint32_t queue_family,
                     const ShaderFeatures& features, std::vector<const char*> extensions = {});

// 128 bytes of push constants and no descriptors.
VkPipelineLayout make_layout(VkDevice device);

// Throws where there is no shader of that name.
VkPipeline make_pipeline(VkDevice device, VkPipelineLayout layout, const std::string& shader,
                         const std::vector<uint32_t>& specialization,
                         VkPipelineCreateFlags flags = 0);

}  // namespace halogen::vulkan::testing
