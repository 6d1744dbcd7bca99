#include "plugins/vulkan/vulkan_api.h"

#include <dlfcn.h>

#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {
namespace {

template <typename Function>
void found(Function& function, PFN_vkVoidFunction address, const char* name) {
  if (!address) {
    throw Failure(HALOGEN_E_UNSUPPORTED, std::string("the Vulkan driver has no ") + name +
                                             "; install one for Vulkan 1.2 or newer");
  }
  function = reinterpret_cast<Function>(address);
}

}  // namespace

PFN_vkGetInstanceProcAddr loader() {
  void* library = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char* reason = ::dlerror();
    throw Failure(
        HALOGEN_E_NOT_FOUND,
        std::string("the Vulkan loader cannot be opened: ") + (reason ? reason : "libvulkan.so.1") +
            "; install it and a driver (Debian packages libvulkan1, mesa-vulkan-drivers)");
  }
  PFN_vkGetInstanceProcAddr get = nullptr;
  found(get, reinterpret_cast<PFN_vkVoidFunction>(::dlsym(library, "vkGetInstanceProcAddr")),
        "vkGetInstanceProcAddr");
  ::dlclose(library);  // stays open all the same
  return get;
}

InstanceFunctions instance_functions(VkInstance instance) {
  const PFN_vkGetInstanceProcAddr get = loader();
  InstanceFunctions functions;
#define HALOGEN_FIND(name) found(functions.name, get(instance, "vk" #name), "vk" #name);
  HALOGEN_INSTANCE_FUNCTIONS(HALOGEN_FIND)
#undef HALOGEN_FIND
  return functions;
}

DeviceFunctions device_functions(const InstanceFunctions& instance, VkDevice device) {
  DeviceFunctions functions;
#define HALOGEN_FIND(name) \
  found(functions.name, instance.GetDeviceProcAddr(device, "vk" #name), "vk" #name);
  HALOGEN_DEVICE_FUNCTIONS(HALOGEN_FIND)
#undef HALOGEN_FIND
  return functions;
}

}  // namespace halogen::vulkan
