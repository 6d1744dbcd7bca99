// Replaces operator new and delete of a test program, for tests that count allocations or make them
// fail. For one source file of a binary of its own, behind its definition of
//   void* allocate(size_t bytes);   // in an unnamed namespace; memory from malloc, or throws
#pragma once

#include <cstdlib>
#include <new>

// Not inlined: GCC would see free() on what it knows only as operator new's, and warn.
[[gnu::noinline]] void* operator new(size_t bytes) {
  return allocate(bytes);
}
[[gnu::noinline]] void* operator new[](size_t bytes) {
  return allocate(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}
