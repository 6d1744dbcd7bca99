#include "tests/unit/gguf/allocation_watch.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace halogen::gguf::test {
namespace {

std::atomic<size_t> largest{0};

}  // namespace

size_t largest_allocation() {
  return largest.load();
}
void reset_largest_allocation() {
  largest.store(0);
}

}  // namespace halogen::gguf::test

void* operator new(std::size_t size) {
  auto& largest = halogen::gguf::test::largest;
  std::size_t before = largest.load();
  while (size > before && !largest.compare_exchange_weak(before, size)) {
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
