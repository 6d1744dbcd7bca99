// Owners of the small objects that submitting takes.
#pragma once

#include <vector>

#include "plugins/vulkan/device.h"

namespace halogen::vulkan {

class Fence {
 public:
  explicit Fence(Device& device);
  ~Fence();
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  VkFence handle() const { return handle_; }
  void reset();  // not signalled any more

 private:
  Device& device_;
  VkFence handle_ = VK_NULL_HANDLE;
};

// Command buffers that are recorded once, in order, and freed together.
class Commands {
 public:
  explicit Commands(Device& device);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  // Ends the command buffer at hand, where there is one, and starts another behind it. All that was
  // submitted before is done, and seen, when it begins.
  VkCommandBuffer begin();
  void end();
  const std::vector<VkCommandBuffer>& all() const { return all_; }

  // Everything before is done, and seen by everything behind: the host too.
  static void barrier(const DeviceFunctions& api, VkCommandBuffer buffer);

 private:
  Device& device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> all_;
  bool open_ = false;
};

}  // namespace halogen::vulkan
