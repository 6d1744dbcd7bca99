// Memory that ends where a page ends that may not be touched: reading or writing one byte beyond it
// is a crash, as it would be behind the last tensor of a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace halogen::check {

class GuardedMemory {
 public:
  GuardedMemory() = default;
  explicit GuardedMemory(size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t whole = (bytes + page - 1) / page * page;
    mapped_ = whole + page;
    void* mapping =
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<uint8_t*>(mapping);
    ::mprotect(start_ + whole, page, PROT_NONE);
    data_ = start_ + whole - bytes;
  }
  explicit GuardedMemory(std::span<const uint8_t> content) : GuardedMemory(content.size()) {
    if (!content.empty()) std::memcpy(data_, content.data(), content.size());
  }
  ~GuardedMemory() {
    if (start_) ::munmap(start_, mapped_);
  }
  GuardedMemory(GuardedMemory&& other) noexcept { swap(other); }
  GuardedMemory& operator=(GuardedMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return bytes_; }
  // Forbids writing, for inputs.
  void protect() {
    ::mprotect(start_, mapped_ - static_cast<size_t>(::sysconf(_SC_PAGESIZE)), PROT_READ);
  }

 private:
  void swap(GuardedMemory& other) {
    std::swap(start_, other.start_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  uint8_t* start_ = nullptr;
  size_t mapped_ = 0;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace halogen::check
