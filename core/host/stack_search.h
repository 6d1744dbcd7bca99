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

// [worker] The names of the threads that are in `code`, or will return to it; those in `bystanders`
// (threads that are older than the code) and the caller are not asked. A thread that the kernel
// reports as running cannot be looked at; it is asked again until `patience` has passed, and counts
// as being inside then. So does one that is inside at first: it may be about to end.
std::vector<std::string> threads_inside(const std::vector<AddressRange>& code,
                                        const std::set<pid_t>& bystanders,
                                        std::chrono::milliseconds patience);

}  // namespace halogen
