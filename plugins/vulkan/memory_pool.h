// Device memory for things that live and die together: weights, a program's activations, a KV pool.
//
// It comes in chunks, because drivers cap the size of a buffer (RADV at 4 GiB, AMDVLK at 2), and is
// handed out in order and never given back singly.
#pragma once

#include <vector>

#include "plugins/vulkan/device.h"

namespace halogen::vulkan {

enum class MemoryUse : uint8_t {
  device,    // read and written by shaders; the host sees it where the device shares its memory
  upload,    // written by the host, read by the device
  read_back  // written by the device, read by the host at full speed
};

// A piece of a pool. Plain data; valid as long as the pool.
struct Span {
  uint64_t address = 0;  // the device's
  uint64_t bytes = 0;
  uint8_t* host = nullptr;  // null where the host does not see it
  bool cached = false;      // the host reads it at full speed
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0;  // in the buffer

  Span part(uint64_t first, uint64_t size) const {
    return {address + first, size, host ? host + first : nullptr, cached, buffer, offset + first};
  }
};

class MemoryPool {
 public:
  static constexpr uint64_t kAlignment = 256;  // bytes; of every span
  static constexpr uint64_t aligned(uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // `expected_bytes`, all that will be taken, spares small chunks; more can be taken.
  MemoryPool(Device& device, MemoryUse use, uint64_t expected_bytes);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // [worker] Throws a Failure (HALOGEN_E_NO_MEMORY) that says how much was asked for and is free.
  Span take(uint64_t bytes);

 private:
  struct Chunk {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    Span span;
    uint64_t used = 0;
  };
  void add_chunk(uint64_t bytes);
  void allocate(Chunk& chunk, uint64_t bytes);
  // Best first: on an integrated device one heap may be full and the other not.
  std::vector<uint32_t> memory_types(uint32_t allowed) const;
  void check_budget(uint64_t bytes) const;
  void destroy(Chunk& chunk);

  Device& device_;
  MemoryUse use_;
  uint64_t expected_;  // bytes that have not been taken yet
  std::vector<Chunk> chunks_;
};

}  // namespace halogen::vulkan
