#include "core/engine/host_tier.h"

#include "core/base/call_plugin.h"

namespace halogen {

bool HostTier::store(uint32_t block, uint32_t slot) {
  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.backend->kv_export(parts_.kv, block, memory_of(slot), block_bytes_, error);
  });
  stored_ += status.ok();
  return status.ok();
}

bool HostTier::load(uint32_t slot, uint32_t block) {
  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.backend->kv_import(parts_.kv, block, memory_of(slot), block_bytes_, error);
  });
  loaded_ += status.ok();
  return status.ok();
}

}  // namespace halogen
