#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {
namespace {

halogen_status status_of(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
      return HALOGEN_E_NO_MEMORY;
    case VK_ERROR_DEVICE_LOST:
      return HALOGEN_E_DEVICE_LOST;
    case VK_TIMEOUT:
      return HALOGEN_E_TIMEOUT;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_INITIALIZATION_FAILED:
      return HALOGEN_E_NOT_FOUND;
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return HALOGEN_E_UNSUPPORTED;
    default:
      return HALOGEN_E_INTERNAL;
  }
}

const char* remedy(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "; a smaller pool_size, context or model needs less memory";
    case VK_ERROR_DEVICE_LOST:
      return "; the device or its driver has failed, the kernel's log (dmesg) says more";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_INITIALIZATION_FAILED:
      return "; install a Vulkan driver (Debian package mesa-vulkan-drivers)";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "; install the validation layers (Debian package vulkan-validationlayers) or set "
             "validation = false";
    default:
      return "";
  }
}

}  // namespace

std::string result_name(VkResult result) {
  switch (result) {
#define HALOGEN_NAME(name) \
  case name:               \
    return #name;
    HALOGEN_NAME(VK_SUCCESS)
    HALOGEN_NAME(VK_NOT_READY)
    HALOGEN_NAME(VK_TIMEOUT)
    HALOGEN_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    HALOGEN_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    HALOGEN_NAME(VK_ERROR_INITIALIZATION_FAILED)
    HALOGEN_NAME(VK_ERROR_DEVICE_LOST)
    HALOGEN_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    HALOGEN_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    HALOGEN_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    HALOGEN_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    HALOGEN_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    HALOGEN_NAME(VK_ERROR_TOO_MANY_OBJECTS)
#undef HALOGEN_NAME
    default:
      return "VkResult " + std::to_string(result);
  }
}

void check(VkResult result, const std::string& call) {
  if (result == VK_SUCCESS) return;
  throw Failure(status_of(result), call + " failed: " + result_name(result) + remedy(result));
}

}  // namespace halogen::vulkan
