#include "plugins/vulkan/transfers.h"

#include <algorithm>
#include <cstring>

namespace halogen::vulkan {
namespace {

void record_copy(const DeviceFunctions& api, VkCommandBuffer buffer, const Span& from,
                 const Span& to) {
  const VkBufferCopy region{from.offset, to.offset, from.bytes};
  api.CmdCopyBuffer(buffer, from.buffer, to.buffer, 1, &region);
}

}  // namespace

Transfers::Staging::Staging(Device& device, MemoryUse use)
    : pool(device, use, kStagingBytes), span(pool.take(kStagingBytes)), fence(device) {}

Transfers::~Transfers() {
  device_.drain();
}

std::vector<std::unique_ptr<Transfers::Staging>>& Transfers::ring(MemoryUse use) {
  auto& ring = use == MemoryUse::upload ? uploads_ : downloads_;
  while (ring.size() < 2) ring.push_back(std::make_unique<Staging>(device_, use));
  return ring;
}

void Transfers::start(Staging& staging, const Span& from, const Span& to) {
  staging.commands.emplace(device_);
  record_copy(device_.api(), staging.commands->begin(), from, to);
  staging.commands->end();
  device_.submit(staging.commands->all(), staging.fence.handle());
}

void Transfers::finish(Staging& staging) {
  if (!staging.commands) return;
  device_.wait(staging.fence.handle(), UINT64_MAX);
  staging.fence.reset();
  staging.commands.reset();
}

void Transfers::upload(const void* from, const Span& to) {
  if (to.bytes == 0) return;
  if (to.host && !always_stage_) {
    std::memcpy(to.host, from, to.bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  auto& slots = ring(MemoryUse::upload);
  size_t turn = 0;
  for (uint64_t done = 0; done < to.bytes; done += kStagingBytes, turn++) {
    Staging& staging = *slots[turn % slots.size()];
    finish(staging);
    const uint64_t bytes = std::min(kStagingBytes, to.bytes - done);
    std::memcpy(staging.span.host, static_cast<const uint8_t*>(from) + done, bytes);
    start(staging, staging.span.part(0, bytes), to.part(done, bytes));
  }
  for (auto& staging : slots) finish(*staging);
}

void Transfers::download(const Span& from, void* to) {
  if (from.bytes == 0) return;
  if (from.host && from.cached && !always_stage_) {
    std::memcpy(to, from.host, from.bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  auto& slots = ring(MemoryUse::read_back);
  const uint64_t pieces = (from.bytes + kStagingBytes - 1) / kStagingBytes;
  const auto bytes_of = [&](uint64_t i) {
    return std::min(kStagingBytes, from.bytes - i * kStagingBytes);
  };
  for (uint64_t i = 0; i <= pieces; i++) {  // the copy of piece i runs while i - 1 is read
    if (i < pieces) {
      Staging& next = *slots[i % slots.size()];
      start(next, from.part(i * kStagingBytes, bytes_of(i)), next.span.part(0, bytes_of(i)));
    }
    if (i == 0) continue;
    Staging& ready = *slots[(i - 1) % slots.size()];
    finish(ready);
    std::memcpy(static_cast<uint8_t*>(to) + (i - 1) * kStagingBytes, ready.span.host,
                bytes_of(i - 1));
  }
}

void Transfers::copy(const std::vector<Copy>& copies) {
  if (copies.empty()) return;
  Commands commands(device_);
  VkCommandBuffer buffer = commands.begin();
  for (const Copy& one : copies) record_copy(device_.api(), buffer, one.from, one.to);
  commands.end();
  Fence fence(device_);
  device_.submit(commands.all(), fence.handle());
  device_.wait(fence.handle(), UINT64_MAX);
}

}  // namespace halogen::vulkan
