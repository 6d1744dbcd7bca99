#include "plugins/cpu/memory.h"

#include <algorithm>

#include <sys/mman.h>

namespace halogen::cpu {

Memory::Memory(size_t bytes) : bytes_(std::max<size_t>(bytes, 1)) {
  void* address =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    bytes_ = 0;
    return;
  }
  ::madvise(address, bytes_, MADV_HUGEPAGE);
  data_ = static_cast<uint8_t*>(address);
  constexpr size_t kPage = 4096;
  auto* touched = static_cast<volatile uint8_t*>(data_);
  for (size_t at = 0; at < bytes_; at += kPage) touched[at] = 0;
}

Memory::~Memory() {
  if (data_) ::munmap(data_, bytes_);
}

}  // namespace halogen::cpu
