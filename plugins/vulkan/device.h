// An opened device: its functions, its queue, and whether it still lives.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "plugins/vulkan/adapter.h"
#include "plugins/vulkan/instance.h"

namespace halogen::vulkan {

class Device {
 public:
  // [worker] Both outlive the device.
  Device(const Instance& instance, const Adapter& adapter);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Instance& instance() const { return instance_; }
  const Adapter& adapter() const { return adapter_; }
  const DeviceFunctions& api() const { return api_; }
  VkDevice handle() const { return handle_; }

  // [any] Runs the command buffers in their order, each as a submission of its own so that none is
  // too long for the driver's watchdog; `fence` is signalled behind the last. Throws a Failure,
  // also for a device that was lost before.
  void submit(const std::vector<VkCommandBuffer>& commands, VkFence fence);
  // [any] True when the fence was signalled within `timeout_ns`.
  bool wait(VkFence fence, uint64_t timeout_ns);
  // [worker] Until nothing runs any more, or the device is lost.
  void drain();
  // [any] Throws a Failure for a lost device.
  void check_alive() const;

 private:
  void check(VkResult result, const char* call);

  const Instance& instance_;
  const Adapter& adapter_;
  VkDevice handle_ = VK_NULL_HANDLE;
  DeviceFunctions api_;
  std::mutex queue_mutex_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::atomic<bool> lost_{false};
};

}  // namespace halogen::vulkan
