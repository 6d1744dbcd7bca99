// Places for matrices that share memory: two whose lifetimes do not meet may share bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace halogen::backends {

struct Tenant {
  uint64_t bytes = 0;
  uint32_t first = UINT32_MAX, last = 0;  // operations that touch it
  uint64_t offset = 0;                    // out
};

// [worker] Gives each tenant the lowest place that is free while it lives, in order of its first
// use. Returns the bytes that all of them take.
uint64_t place(std::vector<Tenant>& tenants);

}  // namespace halogen::backends
