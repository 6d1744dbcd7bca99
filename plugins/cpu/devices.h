// What this machine's processor offers.
#pragma once

#include "halogen/backend.h"

namespace halogen::cpu {

// [worker] Fills name, memory and kind.
void describe_cpu(halogen_device* device);

// [any] Processors that this process may run on, at least 1.
unsigned usable_processors();

}  // namespace halogen::cpu
