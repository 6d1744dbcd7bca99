// The devices that the drivers offer, one entry for each piece of hardware, and what the plugin
// needs to know of it.
#pragma once

#include <string>
#include <vector>

#include "halogen/backend.h"

#include "plugins/vulkan/instance.h"

namespace halogen::vulkan {

struct Adapter {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name;
  std::string driver;    // "radv Mesa 25.0.7"
  std::string identity;  // the same for two drivers of one device
  std::string pci;       // "0000:c5:00.0", or empty
  std::string missing;   // what the plugin needs and this device lacks; empty: nothing
  halogen_device_kind kind = HALOGEN_DEVICE_OTHER;
  uint32_t vendor = 0, device = 0, driver_version = 0, api_version = 0, driver_id = 0;
  uint8_t cache_uuid[VK_UUID_SIZE] = {};
  uint32_t compute_family = UINT32_MAX;  // queue family
  uint32_t min_subgroup_size = 1;
  uint32_t shared_memory_bytes = 0;  // of a workgroup
  uint64_t max_allocation_bytes = 0;
  bool unified = false;        // all its memory is the host's
  bool memory_budget = false;  // VK_EXT_memory_budget
  VkPhysicalDeviceMemoryProperties memory = {};
};

// [worker] All adapters, GPUs first and processors last; of two drivers for one device the first,
// or RADV.
std::vector<Adapter> list_adapters(const Instance& instance);

// [worker] The one that the setting `device` asks for: "auto" the first that will do, else an index
// of the list or a part of a name. Throws a Failure that lists what there is.
const Adapter& choose_adapter(const std::vector<Adapter>& adapters, const std::string& wanted);

// [worker] Memory that the device can use, and what of it is free now.
struct MemoryState {
  uint64_t total, free;
};
MemoryState memory_state(const Instance& instance, const Adapter& adapter);

}  // namespace halogen::vulkan
