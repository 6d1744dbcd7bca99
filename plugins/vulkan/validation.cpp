#include "plugins/vulkan/validation.h"

#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {

void Validation::check() const {
  const std::lock_guard lock(mutex_);
  if (!first_.empty()) throw Failure(HALOGEN_E_INTERNAL, "Vulkan validation: " + first_);
}

VkDebugUtilsMessengerCreateInfoEXT Validation::messenger() {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = report;
  info.pUserData = this;
  return info;
}

VKAPI_ATTR VkBool32 VKAPI_CALL Validation::report(
    VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/, VkDebugUtilsMessageTypeFlagsEXT /*types*/,
    const VkDebugUtilsMessengerCallbackDataEXT* data, void* self) {
  auto& validation = *static_cast<Validation*>(self);
  const std::lock_guard lock(validation.mutex_);
  if (validation.first_.empty()) validation.first_ = data->pMessage;
  return VK_FALSE;
}

}  // namespace halogen::vulkan
