#include "plugins/common/arena_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace halogen::backends {

uint64_t place(std::vector<Tenant>& tenants) {
  std::vector<uint32_t> order(tenants.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(tenants[a].first, a) < std::pair(tenants[b].first, b);
  });
  std::vector<const Tenant*> placed;  // ordered by offset
  uint64_t total = 0;
  for (const uint32_t index : order) {
    Tenant& tenant = tenants[index];
    uint64_t at = 0;
    for (const Tenant* other : placed) {
      if (other->first > tenant.last || tenant.first > other->last) continue;
      if (other->offset >= at + tenant.bytes) break;
      at = std::max(at, other->offset + other->bytes);
    }
    tenant.offset = at;
    placed.insert(std::find_if(placed.begin(), placed.end(),
                               [at](const Tenant* p) { return p->offset >= at; }),
                  &tenant);
    total = std::max(total, at + tenant.bytes);
  }
  return total;
}

}  // namespace halogen::backends
