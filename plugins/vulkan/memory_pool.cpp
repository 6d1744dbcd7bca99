#include "plugins/vulkan/memory_pool.h"

#include <algorithm>

#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kLargestChunk = 1024 * kMiB;
constexpr VkMemoryPropertyFlags kVisible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// Kinds of memory for a use, best first.
std::vector<VkMemoryPropertyFlags> wishes(MemoryUse use, bool unified) {
  const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  switch (use) {
    case MemoryUse::device:
      if (unified) return {local | kVisible, local, kVisible};
      return {local};
    case MemoryUse::upload:
      return {local | kVisible, kVisible};
    case MemoryUse::read_back:
      return {kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, kVisible};
  }
  return {};
}

}  // namespace

MemoryPool::MemoryPool(Device& device, MemoryUse use, uint64_t expected_bytes)
    : device_(device), use_(use), expected_(expected_bytes) {}

MemoryPool::~MemoryPool() {
  for (Chunk& chunk : chunks_) destroy(chunk);
}

Span MemoryPool::take(uint64_t bytes) {
  const uint64_t wanted = aligned(std::max<uint64_t>(bytes, 1));
  if (chunks_.empty() || chunks_.back().span.bytes - chunks_.back().used < wanted)
    add_chunk(std::max(wanted, std::min(expected_, kLargestChunk)));
  Chunk& chunk = chunks_.back();
  const Span span = chunk.span.part(chunk.used, bytes);
  chunk.used += wanted;
  expected_ -= std::min(expected_, wanted);
  return span;
}

void MemoryPool::add_chunk(uint64_t bytes) {
  check_budget(bytes);
  Chunk chunk;
  try {
    allocate(chunk, bytes);
  } catch (...) {
    destroy(chunk);
    throw;
  }
  chunks_.push_back(chunk);
}

void MemoryPool::allocate(Chunk& chunk, uint64_t bytes) {
  const DeviceFunctions& api = device_.api();
  const std::string what = "allocating " + std::to_string(bytes / kMiB + 1) + " MiB";
  if (bytes > device_.adapter().max_allocation_bytes) {
    throw Failure(HALOGEN_E_NO_MEMORY,
                  what + " failed: the driver gives at most " +
                      std::to_string(device_.adapter().max_allocation_bytes / kMiB) +
                      " MiB at once; a smaller pool_size or context needs less");
  }
  VkBufferCreateInfo buffer{};
  buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  buffer.size = bytes;
  buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  check(api.CreateBuffer(device_.handle(), &buffer, nullptr, &chunk.buffer), what);
  VkMemoryRequirements requirements{};
  api.GetBufferMemoryRequirements(device_.handle(), chunk.buffer, &requirements);

  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = requirements.size;
  VkResult allocated = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (const uint32_t type : memory_types(requirements.memoryTypeBits)) {
    info.memoryTypeIndex = type;
    allocated = api.AllocateMemory(device_.handle(), &info, nullptr, &chunk.memory);
    if (allocated != VK_ERROR_OUT_OF_DEVICE_MEMORY) break;
  }
  check(allocated, what);
  check(api.BindBufferMemory(device_.handle(), chunk.buffer, chunk.memory, 0), what);

  const VkMemoryPropertyFlags properties =
      device_.adapter().memory.memoryTypes[info.memoryTypeIndex].propertyFlags;
  void* host = nullptr;
  if ((properties & kVisible) == kVisible)
    check(api.MapMemory(device_.handle(), chunk.memory, 0, VK_WHOLE_SIZE, 0, &host), what);
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = chunk.buffer;
  chunk.span = {api.GetBufferDeviceAddress(device_.handle(), &address),
                bytes,
                static_cast<uint8_t*>(host),
                (properties & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0,
                chunk.buffer,
                0};
}

std::vector<uint32_t> MemoryPool::memory_types(uint32_t allowed) const {
  const VkPhysicalDeviceMemoryProperties& memory = device_.adapter().memory;
  std::vector<uint32_t> types;
  for (const VkMemoryPropertyFlags wish : wishes(use_, device_.adapter().unified)) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
      const bool fits = (memory.memoryTypes[i].propertyFlags & wish) == wish;
      if (fits && (allowed >> i & 1) != 0 && std::count(types.begin(), types.end(), i) == 0)
        types.push_back(i);
    }
  }
  if (!types.empty()) return types;
  throw Failure(HALOGEN_E_UNSUPPORTED,
                "'" + device_.adapter().name + "' has no kind of memory that buffers could use");
}

// Some drivers give memory that is not there and fail at a submit later.
void MemoryPool::check_budget(uint64_t bytes) const {
  if (use_ != MemoryUse::device) return;
  const uint64_t free = memory_state(device_.instance(), device_.adapter()).free;
  if (bytes <= free) return;
  throw Failure(HALOGEN_E_NO_MEMORY,
                std::to_string(bytes / kMiB + 1) + " MiB are needed on '" + device_.adapter().name +
                    "' where " + std::to_string(free / kMiB) +
                    " are free; a smaller pool_size, context or model needs less");
}

void MemoryPool::destroy(Chunk& chunk) {
  device_.api().DestroyBuffer(device_.handle(), chunk.buffer, nullptr);
  device_.api().FreeMemory(device_.handle(), chunk.memory, nullptr);
}

}  // namespace halogen::vulkan
