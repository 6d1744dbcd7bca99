// How this process holds its memory, as the kernel counts it.
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace halogen {

struct ProcessMemory {
  uint64_t resident_bytes = 0;
  uint64_t locked_bytes = 0;     // VmLck: of mappings that are locked, whether touched or not
  uint64_t swapped_bytes = 0;    // of this process
  uint64_t address_bytes = 0;    // VmSize
  uint64_t huge_page_bytes = 0;  // when they were last counted
  uint64_t major_faults = 0;     // so far: accesses that waited for the disk
};

// [any] Takes some tens of microseconds.
ProcessMemory process_memory();

// [worker] Counts the bytes on transparent huge pages, for process_memory() too. Walks the page
// tables: a millisecond for each 100,000 pages.
uint64_t count_huge_pages();

// [any] Swap of the whole machine that is in use.
uint64_t swap_in_use_bytes();

// [worker] Locks all that is mapped now where it is in memory already, and reads in the code and
// the files that are mapped; what is mapped later is locked as it is touched, where the limit lets
// it grow. Without privileges the limit on locked memory counts the whole address space. An error
// names the limit, what is needed and the remedy.
Status lock_memory();

}  // namespace halogen
