// How the process holds its memory while it serves: on huge pages, locked, and out of swap.
#pragma once

#include "core/base/result.h"
#include "core/config/profile.h"

namespace halogen {

// [any] Before anything is allocated for serving: switches huge pages off for the whole process
// where the profile says so. HALOGEN_E_UNSUPPORTED where it asks for them and the system has none.
Status prepare_memory(const MemoryProfile& profile);

// [worker] When everything that serving needs is allocated and touched: locks it as the profile
// says, and logs what was obtained. An error only where the profile insists on the lock.
Status hold_memory(const MemoryProfile& profile);

}  // namespace halogen
