#include "plugins/vulkan/instance.h"

#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {

Instance::Instance(bool validation) {
  const auto create =
      reinterpret_cast<PFN_vkCreateInstance>(loader()(VK_NULL_HANDLE, "vkCreateInstance"));
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "halogen";
  application.apiVersion = VK_API_VERSION_1_3;  // the newest that is used; 1.2 is enough
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  const char* layer = "VK_LAYER_KHRONOS_validation";
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  if (validation) {
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  check(create(&info, nullptr, &handle_), "creating a Vulkan instance");
  api_ = instance_functions(handle_);
  if (validation) watch();
}

Instance::~Instance() {
  if (destroy_messenger_) destroy_messenger_(handle_, messenger_, nullptr);
  api_.DestroyInstance(handle_, nullptr);
}

void Instance::watch() {
  const PFN_vkGetInstanceProcAddr get = loader();
  const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      get(handle_, "vkCreateDebugUtilsMessengerEXT"));
  const VkDebugUtilsMessengerCreateInfoEXT info = validation_.messenger();
  check(create(handle_, &info, nullptr, &messenger_), "listening to the validation layer");
  destroy_messenger_ = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
      get(handle_, "vkDestroyDebugUtilsMessengerEXT"));
}

std::vector<VkPhysicalDevice> Instance::physical_devices() const {
  uint32_t count = 0;
  check(api_.EnumeratePhysicalDevices(handle_, &count, nullptr), "listing Vulkan devices");
  std::vector<VkPhysicalDevice> devices(count);
  const VkResult listed = api_.EnumeratePhysicalDevices(handle_, &count, devices.data());
  if (listed != VK_INCOMPLETE) check(listed, "listing Vulkan devices");
  devices.resize(count);
  return devices;
}

}  // namespace halogen::vulkan
