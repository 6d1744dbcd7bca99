// A Vulkan instance: the way to all drivers that the loader knows.
#pragma once

#include <vector>

#include "plugins/vulkan/validation.h"
#include "plugins/vulkan/vulkan_api.h"

namespace halogen::vulkan {

class Instance {
 public:
  // [worker] Throws a Failure that names what is missing. With `validation`, the Khronos layer
  // watches all calls.
  explicit Instance(bool validation);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const InstanceFunctions& api() const { return api_; }
  const Validation& validation() const { return validation_; }
  std::vector<VkPhysicalDevice> physical_devices() const;

 private:
  void watch();

  Validation validation_;
  VkInstance handle_ = VK_NULL_HANDLE;
  InstanceFunctions api_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger_ = nullptr;
};

}  // namespace halogen::vulkan
