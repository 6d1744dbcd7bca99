#include "core/base/process_memory.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace halogen {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Runs `body` in a process of its own, where limits and locks harm nobody; its exit status.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  ::syscall(SYS_capset, &header, none);
}

void* touched(size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  return memory;
}

TEST(ProcessMemory, SeesWhatWasTouched) {
  const uint64_t before = process_memory().resident_bytes;
  void* memory = touched(64 * kMiB);
  EXPECT_GE(process_memory().resident_bytes, before + 60 * kMiB);
  EXPECT_GE(process_memory().address_bytes, process_memory().resident_bytes);
  ::munmap(memory, 64 * kMiB);
}

TEST(ProcessMemory, LocksAllThatIsMapped) {
  constexpr int kNotAllowed = 77;
  const int status = in_child([] {
    touched(64 * kMiB);
    if (!lock_memory()) return kNotAllowed;
    return process_memory().locked_bytes >= 64 * kMiB ? 0 : 1;
  });
  if (status == kNotAllowed) GTEST_SKIP() << "the limit on locked memory forbids it here";
  EXPECT_EQ(status, 0);
}

TEST(ProcessMemory, ALimitThatIsTooLowIsNamedWithTheNeedAndTheRemedy) {
  const int status = in_child([] {
    const rlimit limit{kMiB, kMiB};
    ::setrlimit(RLIMIT_MEMLOCK, &limit);
    drop_capabilities();
    touched(64 * kMiB);
    const Status locked = lock_memory();
    if (locked) return 1;
    const std::string& message = locked.error().message;
    const std::string need =
        std::to_string((process_memory().address_bytes + kMiB - 1) / kMiB) + " MiB are needed";
    for (const std::string& part : {std::string("RLIMIT_MEMLOCK"), std::string("is 1 MiB"), need,
                                    std::string("LimitMEMLOCK=infinity")}) {
      if (message.find(part) == std::string::npos) return 2;
    }
    return process_memory().locked_bytes == 0 ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace halogen
