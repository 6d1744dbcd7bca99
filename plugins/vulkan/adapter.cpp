#include "plugins/vulkan/adapter.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <set>

#include <strings.h>

#include "plugins/vulkan/failure.h"
#include "plugins/vulkan/host_memory.h"

namespace halogen::vulkan {
namespace {

struct Properties {
  VkPhysicalDeviceProperties2 base{};
  VkPhysicalDeviceVulkan11Properties v11{};
  VkPhysicalDeviceVulkan12Properties v12{};
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroups{};

  Properties(const InstanceFunctions& api, VkPhysicalDevice device, bool has_pci,
             bool has_subgroups) {
    base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    pci.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
    subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
    void* chain = nullptr;
    const auto add = [&](auto& properties) {
      properties.pNext = chain;
      chain = &properties;
    };
    add(v11);
    add(v12);
    if (has_pci) add(pci);
    if (has_subgroups) add(subgroups);
    base.pNext = chain;
    api.GetPhysicalDeviceProperties2(device, &base);
  }
};

std::set<std::string> extensions_of(const InstanceFunctions& api, VkPhysicalDevice device) {
  uint32_t count = 0;
  check(api.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
        "listing a device's extensions");
  std::vector<VkExtensionProperties> listed(count);
  check(api.EnumerateDeviceExtensionProperties(device, nullptr, &count, listed.data()),
        "listing a device's extensions");
  std::set<std::string> names;
  for (const VkExtensionProperties& extension : listed) names.insert(extension.extensionName);
  return names;
}

// What the shaders use and the device lacks, in words.
std::string missing_features(const InstanceFunctions& api, VkPhysicalDevice device,
                             const VkPhysicalDeviceVulkan11Properties& subgroups) {
  VkPhysicalDeviceVulkan12Features v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceVulkan11Features v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &v11;
  api.GetPhysicalDeviceFeatures2(device, &features);
  const VkSubgroupFeatureFlags operations =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  std::string missing;
  const auto need = [&](bool there, const char* name) {
    if (!there) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  need(v12.bufferDeviceAddress, "bufferDeviceAddress");
  need(features.features.shaderInt64, "shaderInt64");
  need(v12.storageBuffer8BitAccess, "storageBuffer8BitAccess");
  need(v11.storageBuffer16BitAccess, "storageBuffer16BitAccess");
  need((subgroups.subgroupSupportedOperations & operations) == operations &&
           (subgroups.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0,
       "subgroup arithmetic");
  return missing;
}

// A family that computes and draws nothing, where there is one: a long step then delays no screen.
uint32_t compute_family(const InstanceFunctions& api, VkPhysicalDevice device) {
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  uint32_t chosen = UINT32_MAX;
  for (uint32_t i = count; i-- > 0;) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    if (chosen == UINT32_MAX || (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) chosen = i;
  }
  return chosen;
}

halogen_device_kind kind_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return HALOGEN_DEVICE_DISCRETE_GPU;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return HALOGEN_DEVICE_INTEGRATED_GPU;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return HALOGEN_DEVICE_CPU;
    default:
      return HALOGEN_DEVICE_OTHER;
  }
}

std::string pci_address(const VkPhysicalDevicePCIBusInfoPropertiesEXT& pci) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.pciDomain, pci.pciBus, pci.pciDevice,
                pci.pciFunction);
  return text;
}

Adapter describe(const Instance& instance, VkPhysicalDevice handle) {
  const InstanceFunctions& api = instance.api();
  const std::set<std::string> extensions = extensions_of(api, handle);
  const bool has_pci = extensions.count(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME) != 0;
  const bool has_subgroups = extensions.count(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME) != 0;
  const Properties properties(api, handle, has_pci, has_subgroups);
  const VkPhysicalDeviceProperties& base = properties.base.properties;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  api.GetPhysicalDeviceMemoryProperties2(handle, &memory);

  Adapter adapter;
  adapter.handle = handle;
  adapter.name = base.deviceName;
  adapter.driver = std::string(properties.v12.driverName) + " " + properties.v12.driverInfo;
  if (has_pci) adapter.pci = pci_address(properties.pci);
  adapter.identity =
      has_pci ? adapter.pci
              : std::string(reinterpret_cast<const char*>(properties.v11.deviceUUID), VK_UUID_SIZE);
  adapter.kind = kind_of(base.deviceType);
  adapter.vendor = base.vendorID;
  adapter.device = base.deviceID;
  adapter.driver_version = base.driverVersion;
  adapter.api_version = base.apiVersion;
  adapter.driver_id = properties.v12.driverID;
  std::memcpy(adapter.cache_uuid, base.pipelineCacheUUID, VK_UUID_SIZE);
  adapter.compute_family = compute_family(api, handle);
  if (has_subgroups) adapter.min_subgroup_size = properties.subgroups.minSubgroupSize;
  adapter.shared_memory_bytes = base.limits.maxComputeSharedMemorySize;
  adapter.max_allocation_bytes = properties.v11.maxMemoryAllocationSize;
  adapter.unified =
      adapter.kind == HALOGEN_DEVICE_INTEGRATED_GPU || adapter.kind == HALOGEN_DEVICE_CPU;
  adapter.memory_budget = extensions.count(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) != 0;
  adapter.memory = memory.memoryProperties;
  adapter.missing = base.apiVersion < VK_API_VERSION_1_2
                        ? "Vulkan 1.2"
                        : missing_features(api, handle, properties.v11);
  if (adapter.compute_family == UINT32_MAX) adapter.missing = "a queue that computes";
  return adapter;
}

int rank(const Adapter& adapter) {
  switch (adapter.kind) {
    case HALOGEN_DEVICE_DISCRETE_GPU:
      return 0;
    case HALOGEN_DEVICE_INTEGRATED_GPU:
      return 1;
    case HALOGEN_DEVICE_OTHER:
      return 2;
    case HALOGEN_DEVICE_CPU:
      return 3;
  }
  return 3;
}

std::string listed(const std::vector<Adapter>& adapters) {
  std::string text;
  for (size_t i = 0; i < adapters.size(); i++) {
    text += (i ? ", " : "") + std::to_string(i) + " is '" + adapters[i].name + "'";
    if (!adapters[i].missing.empty()) text += " (without " + adapters[i].missing + ")";
  }
  return text;
}

bool contains(const std::string& name, const std::string& part) {
  return std::search(name.begin(), name.end(), part.begin(), part.end(),
                     [](char a, char b) { return ::strncasecmp(&a, &b, 1) == 0; }) != name.end();
}

const Adapter* find_adapter(const std::vector<Adapter>& adapters, const std::string& wanted) {
  size_t index = 0;
  const char* end = wanted.data() + wanted.size();
  const auto [stop, failure] = std::from_chars(wanted.data(), end, index);
  if (failure == std::errc() && stop == end)
    return index < adapters.size() ? &adapters[index] : nullptr;
  const auto found = std::find_if(adapters.begin(), adapters.end(), [&](const Adapter& adapter) {
    return wanted == "auto" ? adapter.missing.empty() : contains(adapter.name, wanted);
  });
  return found == adapters.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Adapter> list_adapters(const Instance& instance) {
  std::vector<Adapter> adapters;
  for (VkPhysicalDevice handle : instance.physical_devices()) {
    Adapter adapter = describe(instance, handle);
    const auto twin = std::find_if(adapters.begin(), adapters.end(), [&](const Adapter& known) {
      return known.identity == adapter.identity;
    });
    if (twin == adapters.end()) {
      const auto behind =
          std::upper_bound(adapters.begin(), adapters.end(), adapter,
                           [](const Adapter& a, const Adapter& b) { return rank(a) < rank(b); });
      adapters.insert(behind, std::move(adapter));
    } else if (adapter.driver_id == VK_DRIVER_ID_MESA_RADV) {
      *twin = std::move(adapter);
    }
  }
  return adapters;
}

const Adapter& choose_adapter(const std::vector<Adapter>& adapters, const std::string& wanted) {
  if (adapters.empty()) {
    throw Failure(HALOGEN_E_NOT_FOUND,
                  "no Vulkan driver finds a device; install one (Debian package "
                  "mesa-vulkan-drivers) and see that the user may open /dev/dri/renderD*");
  }
  const Adapter* found = find_adapter(adapters, wanted);
  if (!found) {
    throw Failure(HALOGEN_E_NOT_FOUND,
                  "there is no Vulkan device '" + wanted + "'; " + listed(adapters));
  }
  if (!found->missing.empty()) {
    throw Failure(HALOGEN_E_UNSUPPORTED, "'" + found->name + "' with the driver " + found->driver +
                                             " lacks " + found->missing +
                                             "; a newer driver may have it");
  }
  return *found;
}

MemoryState memory_state(const Instance& instance, const Adapter& adapter) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  if (adapter.memory_budget) memory.pNext = &budget;
  instance.api().GetPhysicalDeviceMemoryProperties2(adapter.handle, &memory);
  MemoryState state{0, 0};
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; i++) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    // The heaps of an integrated device are parts of one memory.
    if (!adapter.unified && (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) continue;
    state.total += heap.size;
    if (!adapter.memory_budget) {
      state.free += heap.size;
    } else if (budget.heapBudget[i] > budget.heapUsage[i]) {
      state.free += budget.heapBudget[i] - budget.heapUsage[i];
    }
  }
  if (adapter.unified) {
    state.total = std::min(state.total, host_memory().total);
    state.free = std::min(state.free, host_memory().available);
  }
  state.free = std::min(state.free, state.total);
  return state;
}

}  // namespace halogen::vulkan
