#include "tests/unit/vulkan_shaders/vulkan_calls.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "plugins/vulkan/shaders.h"

namespace halogen::vulkan::testing {
namespace {

constexpr const char* kCooperativeMatrixExtension = "VK_KHR_cooperative_matrix";

bool has_extension(VkPhysicalDevice physical, std::string_view name) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data());
  return std::any_of(
      extensions.begin(), extensions.end(),
      [&](const VkExtensionProperties& extension) { return name == extension.extensionName; });
}

}  // namespace

void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS)
    throw std::runtime_error(std::string(what) + " answers " + std::to_string(result));
}

bool ShaderFeatures::offered_by(VkPhysicalDevice physical) {
  const bool knows_matrices = has_extension(physical, kCooperativeMatrixExtension);
  cooperative_.pNext = next_;
  dot_.pNext = knows_matrices ? &cooperative_ : next_;
  vkGetPhysicalDeviceFeatures2(physical, &all_);
  const bool enough = all_.features.shaderInt64 && v11_.storageBuffer16BitAccess &&
                      v12_.storageBuffer8BitAccess && v12_.bufferDeviceAddress;
  cooperative_.cooperativeMatrix &= v12_.shaderFloat16 & v12_.vulkanMemoryModel;
  // Nothing but these: what else a device has might hide what a shader needs.
  all_.features = {};
  all_.features.shaderInt64 = VK_TRUE;
  v11_ = described<VkPhysicalDeviceVulkan11Features>(v11_.sType, &v12_);
  v11_.storageBuffer16BitAccess = VK_TRUE;
  v12_ = described<VkPhysicalDeviceVulkan12Features>(v12_.sType, &dot_);
  v12_.storageBuffer8BitAccess = VK_TRUE;
  v12_.bufferDeviceAddress = VK_TRUE;
  v12_.shaderFloat16 = v12_.vulkanMemoryModel = cooperative_.cooperativeMatrix;
  cooperative_.cooperativeMatrixRobustBufferAccess = VK_FALSE;
  return enough;
}

std::vector<VkPhysicalDevice> physical_devices(VkInstance instance) {
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance, &count, devices.data());
  return devices;
}

VkDevice make_device(VkPhysicalDevice physical, uint32_t queue_family,
                     const ShaderFeatures& features, std::vector<const char*> extensions) {
  if (features.integer_dot())
    extensions.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  if (features.cooperative_matrices()) extensions.push_back(kCooperativeMatrixExtension);
  const float priority = 1;
  auto queue = described<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto info = described<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = features.chain();
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  check(vkCreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  return device;
}

VkPipelineLayout make_layout(VkDevice device) {
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
  auto info = described<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  check(vkCreatePipelineLayout(device, &info, nullptr, &layout), "vkCreatePipelineLayout");
  return layout;
}

VkPipeline make_pipeline(VkDevice device, VkPipelineLayout layout, const std::string& shader,
                         const std::vector<uint32_t>& specialization, VkPipelineCreateFlags flags) {
  const Shader* found = find_shader(shader);
  if (!found) throw std::runtime_error("there is no shader " + shader);
  auto code = described<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  code.codeSize = found->words.size_bytes();
  code.pCode = found->words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device, &code, nullptr, &module), "vkCreateShaderModule");
  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < specialization.size(); i++) entries.push_back({i, i * 4, 4});
  const VkSpecializationInfo constants{static_cast<uint32_t>(entries.size()), entries.data(),
                                       specialization.size() * 4, specialization.data()};
  auto info =
      described<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.flags = flags;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        "vkCreateComputePipelines");
  vkDestroyShaderModule(device, module, nullptr);
  return pipeline;
}

}  // namespace halogen::vulkan::testing
