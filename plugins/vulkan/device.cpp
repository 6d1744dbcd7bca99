#include "plugins/vulkan/device.h"

#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {

Device::Device(const Instance& instance, const Adapter& adapter)
    : instance_(instance), adapter_(adapter) {
  VkPhysicalDeviceVulkan12Features v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v12.bufferDeviceAddress = VK_TRUE;
  v12.storageBuffer8BitAccess = VK_TRUE;
  VkPhysicalDeviceVulkan11Features v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  v11.storageBuffer16BitAccess = VK_TRUE;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &v11;
  features.features.shaderInt64 = VK_TRUE;

  const float priority = 1.0F;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = adapter.compute_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  const char* budget = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
  info.enabledExtensionCount = adapter.memory_budget ? 1 : 0;
  info.ppEnabledExtensionNames = &budget;
  vulkan::check(instance.api().CreateDevice(adapter.handle, &info, nullptr, &handle_),
                "opening '" + adapter.name + "'");
  api_ = device_functions(instance.api(), handle_);
  api_.GetDeviceQueue(handle_, adapter.compute_family, 0, &queue_);
}

Device::~Device() {
  drain();
  api_.DestroyDevice(handle_, nullptr);
}

void Device::check(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) lost_.store(true, std::memory_order_relaxed);
  vulkan::check(result, call);
}

void Device::check_alive() const {
  if (lost_.load(std::memory_order_relaxed)) {
    throw Failure(HALOGEN_E_DEVICE_LOST,
                  "'" + adapter_.name + "' was lost; the kernel's log (dmesg) says more");
  }
}

void Device::submit(const std::vector<VkCommandBuffer>& commands, VkFence fence) {
  check_alive();
  std::vector<VkSubmitInfo> submits(commands.size());
  for (size_t i = 0; i < commands.size(); i++) {
    submits[i].sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submits[i].commandBufferCount = 1;
    submits[i].pCommandBuffers = &commands[i];
  }
  const std::lock_guard lock(queue_mutex_);
  check(api_.QueueSubmit(queue_, static_cast<uint32_t>(submits.size()), submits.data(), fence),
        "submitting work to the device");
}

bool Device::wait(VkFence fence, uint64_t timeout_ns) {
  check_alive();
  const VkResult result = api_.WaitForFences(handle_, 1, &fence, VK_TRUE, timeout_ns);
  if (result == VK_TIMEOUT) return false;
  check(result, "waiting for the device");
  return true;
}

void Device::drain() {
  const std::lock_guard lock(queue_mutex_);
  if (api_.DeviceWaitIdle(handle_) == VK_ERROR_DEVICE_LOST)
    lost_.store(true, std::memory_order_relaxed);
}

}  // namespace halogen::vulkan
