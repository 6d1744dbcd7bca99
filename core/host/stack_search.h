// Which threads would crash if code were unmapped: the last look before a plugin's object is
// closed.
//
// Threads that a plugin starts through the host are joined by it. One that it starts past the host
// is found here, by the addresses on its stack, as garbage collectors and live kernel patching find
// what is in use: every word of the stack that points into the code counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace halogen {

struct AddressRange {
  uintptr_t begin = 0, end = 0;
  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};

// [any] The threads that this process has now.
std::set<pid_t> thread_ids();

// Names of threads.
struct ThreadSearch {
  std::vector<std::string> inside;  // in the code, or about to return to it
  std::vector<std::string> unseen;  // running whenever they were looked at
  bool empty() const { return inside.empty() && unseen.empty(); }
};

// [worker] Looks for threads in `code`, into which nothing calls any more: a thread that was seen
// outside once is outside for good. Those in `bystanders` (threads that are older than the code)
// and the caller are not looked at. A thread that the kernel reports as running cannot be looked
// at, and one that is inside may be about to end: both are looked at again until `patience` has
// passed.
ThreadSearch threads_inside(const std::vector<AddressRange>& code, std::set<pid_t> bystanders,
                            std::chrono::milliseconds patience);

}  // namespace halogen
