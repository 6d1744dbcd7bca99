#include "plugins/vulkan/commands.h"

#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {

Fence::Fence(Device& device) : device_(device) {
  VkFenceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  check(device.api().CreateFence(device.handle(), &info, nullptr, &handle_), "creating a fence");
}

Fence::~Fence() {
  device_.api().DestroyFence(device_.handle(), handle_, nullptr);
}

void Fence::reset() {
  check(device_.api().ResetFences(device_.handle(), 1, &handle_), "resetting a fence");
}

Commands::Commands(Device& device) : device_(device) {
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.queueFamilyIndex = device.adapter().compute_family;
  check(device.api().CreateCommandPool(device.handle(), &info, nullptr, &pool_),
        "creating a command pool");
}

Commands::~Commands() {
  device_.api().DestroyCommandPool(device_.handle(), pool_, nullptr);
}

VkCommandBuffer Commands::begin() {
  end();
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer buffer = VK_NULL_HANDLE;
  check(device_.api().AllocateCommandBuffers(device_.handle(), &info, &buffer),
        "making a command buffer");
  all_.push_back(buffer);
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  check(device_.api().BeginCommandBuffer(buffer, &begin), "beginning a command buffer");
  open_ = true;
  barrier(device_.api(), buffer);
  return buffer;
}

void Commands::end() {
  if (!open_) return;
  open_ = false;
  barrier(device_.api(), all_.back());
  check(device_.api().EndCommandBuffer(all_.back()), "ending a command buffer");
}

void Commands::barrier(const DeviceFunctions& api, VkCommandBuffer buffer) {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  api.CmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &memory, 0, nullptr, 0, nullptr);
}

}  // namespace halogen::vulkan
