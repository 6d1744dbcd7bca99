#include "core/serve/host_arena.h"

#include <utility>

#include <sys/mman.h>

namespace halogen {

Result<HostArena> HostArena::create(uint64_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    return fail(HALOGEN_E_NO_MEMORY, "the system has no " + std::to_string(bytes >> 20) +
                                         " MiB for the second KV tier; set a smaller "
                                         "kv.host_pool_size");
  }
  return HostArena(static_cast<uint8_t*>(memory), bytes);
}

HostArena::HostArena(HostArena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

HostArena& HostArena::operator=(HostArena&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostArena::~HostArena() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace halogen
