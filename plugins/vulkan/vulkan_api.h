// The Vulkan functions that the plugin calls, found at run time: nothing links against the loader,
// so that the plugin opens on a machine without Vulkan and can say what is missing.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

namespace halogen::vulkan {

#define HALOGEN_INSTANCE_FUNCTIONS(X)   \
  X(CreateDevice)                       \
  X(DestroyInstance)                    \
  X(EnumerateDeviceExtensionProperties) \
  X(EnumeratePhysicalDevices)           \
  X(GetDeviceProcAddr)                  \
  X(GetPhysicalDeviceFeatures2)         \
  X(GetPhysicalDeviceMemoryProperties2) \
  X(GetPhysicalDeviceProperties2)       \
  X(GetPhysicalDeviceQueueFamilyProperties)

#define HALOGEN_DEVICE_FUNCTIONS(X) \
  X(AllocateCommandBuffers)         \
  X(AllocateMemory)                 \
  X(BeginCommandBuffer)             \
  X(BindBufferMemory)               \
  X(CmdBindPipeline)                \
  X(CmdCopyBuffer)                  \
  X(CmdDispatch)                    \
  X(CmdPipelineBarrier)             \
  X(CmdPushConstants)               \
  X(CreateBuffer)                   \
  X(CreateCommandPool)              \
  X(CreateComputePipelines)         \
  X(CreateFence)                    \
  X(CreatePipelineCache)            \
  X(CreatePipelineLayout)           \
  X(CreateShaderModule)             \
  X(DestroyBuffer)                  \
  X(DestroyCommandPool)             \
  X(DestroyDevice)                  \
  X(DestroyFence)                   \
  X(DestroyPipeline)                \
  X(DestroyPipelineCache)           \
  X(DestroyPipelineLayout)          \
  X(DestroyShaderModule)            \
  X(DeviceWaitIdle)                 \
  X(EndCommandBuffer)               \
  X(FreeCommandBuffers)             \
  X(FreeMemory)                     \
  X(GetBufferDeviceAddress)         \
  X(GetBufferMemoryRequirements)    \
  X(GetDeviceQueue)                 \
  X(GetPipelineCacheData)           \
  X(MapMemory)                      \
  X(QueueSubmit)                    \
  X(ResetFences)                    \
  X(WaitForFences)

#define HALOGEN_MEMBER(name) PFN_vk##name name = nullptr;
struct InstanceFunctions {
  HALOGEN_INSTANCE_FUNCTIONS(HALOGEN_MEMBER)
};
struct DeviceFunctions {
  HALOGEN_DEVICE_FUNCTIONS(HALOGEN_MEMBER)
};
#undef HALOGEN_MEMBER

// [worker] The loader's entry, opened at the first call and never closed: drivers leave threads and
// handlers behind that would outlive it. Throws a Failure where there is no loader.
PFN_vkGetInstanceProcAddr loader();

// [worker] All of them are there, or a Failure names one that is not.
InstanceFunctions instance_functions(VkInstance instance);
DeviceFunctions device_functions(const InstanceFunctions& instance, VkDevice device);

}  // namespace halogen::vulkan
