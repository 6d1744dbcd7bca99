// What the Khronos validation layer says of the plugin's calls: kept, so that a step or a program
// fails by it instead of a line in a log passing unread.
#pragma once

#include <mutex>
#include <string>

#include "plugins/vulkan/vulkan_api.h"

namespace halogen::vulkan {

class Validation {
 public:
  // [any] Throws a Failure with the first message that has come, if one has.
  void check() const;
  // For an instance that reports to this object, which outlives it.
  VkDebugUtilsMessengerCreateInfoEXT messenger();

 private:
  static VKAPI_ATTR VkBool32 VKAPI_CALL report(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                               VkDebugUtilsMessageTypeFlagsEXT types,
                                               const VkDebugUtilsMessengerCallbackDataEXT* data,
                                               void* self);

  mutable std::mutex mutex_;
  std::string first_;
};

}  // namespace halogen::vulkan
