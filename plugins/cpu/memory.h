// Page-aligned anonymous memory on huge pages where the system has them, touched when it is made so
// that serving never faults a page in, unless it is filled before it serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace halogen::cpu {

class ThreadTeam;

class Memory {
 public:
  Memory() = default;
  // Zeroed bytes; data() is null when the system has no memory left. An idle team touches them
  // together: zeroing tens of gigabytes is most of a start.
  explicit Memory(size_t bytes, ThreadTeam* team = nullptr);
  // The same, for whoever writes it all soon.
  static Memory untouched(size_t bytes);
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Memory();

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace halogen::cpu
