#include "plugins/cpu/memory.h"

#include <algorithm>
#include <atomic>

#include <sys/mman.h>

#include "plugins/cpu/thread_team.h"

namespace halogen::cpu {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kShare = size_t{32} << 20;  // that a thread touches at a time: whole huge pages

void touch(uint8_t* begin, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  auto* touched = static_cast<volatile uint8_t*>(begin);
  for (size_t at = 0; at < bytes; at += kPage) touched[at] = 0;
}

class Touch final : public TeamJob {
 public:
  Touch(uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}

  void run(unsigned /*member*/) override {
    for (;;) {
      const size_t at = next_.fetch_add(kShare, std::memory_order_relaxed);
      if (at >= bytes_) return;
      touch(data_ + at, std::min(kShare, bytes_ - at));
    }
  }

 private:
  uint8_t* data_;
  size_t bytes_;
  std::atomic<size_t> next_{0};
};

}  // namespace

Memory Memory::untouched(size_t bytes) {
  Memory memory;
  memory.bytes_ = std::max<size_t>(bytes, 1);
  void* address =
      ::mmap(nullptr, memory.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return {};
  ::madvise(address, memory.bytes_, MADV_HUGEPAGE);
  memory.data_ = static_cast<uint8_t*>(address);
  return memory;
}

Memory::Memory(size_t bytes, ThreadTeam* team) : Memory(untouched(bytes)) {
  if (!data_) return;
  if (team == nullptr || bytes_ <= kShare) {
    touch(data_, bytes_);
  } else {
    Touch job(data_, bytes_);
    team->finish(team->begin(job), UINT64_MAX);
  }
}

Memory::~Memory() {
  if (data_) ::munmap(data_, bytes_);
}

}  // namespace halogen::cpu
