#include "tests/unit/vulkan_shaders/gpu.h"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/unit/vulkan_shaders/vulkan_calls.h"

namespace halogen::vulkan::testing {
namespace {

constexpr const char* kValidation = "VK_LAYER_KHRONOS_validation";

bool has_validation() {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::any_of(layers.begin(), layers.end(), [](const VkLayerProperties& layer) {
    return std::string_view(layer.layerName) == kValidation;
  });
}

// Whatever the validation layer says fails the test that is running.
VKAPI_ATTR VkBool32 VKAPI_CALL report(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                      VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                      const VkDebugUtilsMessengerCallbackDataEXT* data,
                                      void* /*context*/) {
  ADD_FAILURE() << "validation: " << data->pMessage;
  return VK_FALSE;
}

}  // namespace

Buffer::Buffer(VkPhysicalDevice physical, VkDevice device, size_t bytes)
    : device_(device), bytes_(bytes) {
  auto info = described<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = (bytes + 3) / 4 * 4 + kGuardWords * 4;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  check(vkCreateBuffer(device_, &info, nullptr, &buffer_), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, buffer_, &needs);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  constexpr VkMemoryPropertyFlags kShared =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while ((needs.memoryTypeBits >> type & 1) == 0 ||
         (memory.memoryTypes[type].propertyFlags & kShared) != kShared)
    type++;
  auto flags = described<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocation = described<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags);
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = type;
  check(vkAllocateMemory(device_, &allocation, nullptr, &memory_), "vkAllocateMemory");
  check(vkBindBufferMemory(device_, buffer_, memory_, 0), "vkBindBufferMemory");
  check(vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &mapped_), "vkMapMemory");
  const VkBufferDeviceAddressInfo ask{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr,
                                      buffer_};
  address_ = vkGetBufferDeviceAddress(device_, &ask);
  std::fill_n(static_cast<uint32_t*>(mapped_), info.size / 4, kGuard);
}

Buffer::~Buffer() {
  EXPECT_TRUE(intact()) << "a shader wrote past a buffer's end";
  vkDestroyBuffer(device_, buffer_, nullptr);
  vkFreeMemory(device_, memory_, nullptr);
}

bool Buffer::intact() const {
  const auto* words = static_cast<const uint32_t*>(mapped_) + (bytes_ + 3) / 4;
  return std::all_of(words, words + kGuardWords, [](uint32_t word) { return word == kGuard; });
}

Gpu* Gpu::get(std::string& why_not) {
  static const std::pair<std::unique_ptr<Gpu>, std::string> made = [] {
    std::unique_ptr<Gpu> gpu(new Gpu);
    std::string reason = gpu->start();
    if (!reason.empty()) gpu.reset();
    return std::pair(std::move(gpu), std::move(reason));
  }();
  why_not = made.second;
  return made.first.get();
}

// Empty, or why there is no device.
std::string Gpu::start() {
  auto application = described<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.apiVersion = VK_API_VERSION_1_2;
  auto messages = described<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messages.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                             VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messages.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messages.pfnUserCallback = report;
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  auto info = described<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  if (has_validation()) {
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidation;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  if (const VkResult result = vkCreateInstance(&info, nullptr, &instance_); result != VK_SUCCESS)
    return "no Vulkan driver: vkCreateInstance answers " + std::to_string(result);
  if (info.enabledLayerCount > 0) {
    VkDebugUtilsMessengerEXT messenger;  // lives as long as the process
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
    check(create(instance_, &messages, nullptr, &messenger), "vkCreateDebugUtilsMessengerEXT");
  }
  const std::vector<VkPhysicalDevice> devices = physical_devices(instance_);
  for (VkPhysicalDevice device : devices)
    if (take(device)) return "";
  return "no Vulkan device has what the shaders need, of " + std::to_string(devices.size());
}

bool Gpu::take(VkPhysicalDevice physical) {
  auto subgroups = described<VkPhysicalDeviceSubgroupProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
  auto properties = described<VkPhysicalDeviceProperties2>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroups);
  vkGetPhysicalDeviceProperties2(physical, &properties);
  if (properties.properties.apiVersion < VK_API_VERSION_1_2) return false;
  ShaderFeatures features;
  if (!features.offered_by(physical)) return false;

  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  while (queue_family_ < count && !(families[queue_family_].queueFlags & VK_QUEUE_COMPUTE_BIT))
    queue_family_++;
  if (queue_family_ == count) return false;

  device_ = make_device(physical, queue_family_, features);
  vkGetDeviceQueue(device_, queue_family_, 0, &queue_);

  const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0,
                                     queue_family_};
  check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
  layout_ = make_layout(device_);
  physical_ = physical;
  name_ = properties.properties.deviceName;
  subgroup_size_ = subgroups.subgroupSize;
  has_integer_dot_ = features.integer_dot();
  has_cooperative_matrices_ = features.cooperative_matrices();
  return true;
}

Gpu::~Gpu() {
  for (const auto& [key, made] : pipelines_) vkDestroyPipeline(device_, made, nullptr);
  if (device_) {
    vkDestroyPipelineLayout(device_, layout_, nullptr);
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroyDevice(device_, nullptr);
  }
  // The instance stays: its messenger belongs to it, and both to the process.
}

std::unique_ptr<Buffer> Gpu::make(size_t bytes) const {
  return std::make_unique<Buffer>(physical_, device_, bytes);
}

VkPipeline Gpu::pipeline(const std::string& shader, const std::vector<uint32_t>& specialization) {
  VkPipeline& made = pipelines_[{shader, specialization}];
  if (!made) made = make_pipeline(device_, layout_, shader, specialization);
  return made;
}

void Gpu::dispatch(const std::string& shader, const std::vector<uint32_t>& specialization,
                   const void* constants, size_t bytes, Groups groups) {
  VkPipeline bound = pipeline(shader, specialization);
  auto allocation =
      described<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocation.commandPool = pool_;
  allocation.commandBufferCount = 1;
  VkCommandBuffer commands;
  check(vkAllocateCommandBuffers(device_, &allocation, &commands), "vkAllocateCommandBuffers");
  const auto begin =
      described<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound);
  vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                     static_cast<uint32_t>(bytes), constants);
  vkCmdDispatch(commands, groups.x, groups.y, groups.z);
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                       0, 1, &barrier, 0, nullptr, 0, nullptr);
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  auto submit = described<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
  vkFreeCommandBuffers(device_, pool_, 1, &commands);
}

}  // namespace halogen::vulkan::testing
