// The memory of the second KV tier: taken and touched once, before anything is served.
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace halogen {

class HostArena {
 public:
  // [worker] HALOGEN_E_NO_MEMORY where the system does not give `bytes`.
  static Result<HostArena> create(uint64_t bytes);
  HostArena(HostArena&& other) noexcept;
  HostArena& operator=(HostArena&& other) noexcept;
  ~HostArena();

  uint8_t* data() const { return data_; }  // page-aligned

 private:
  HostArena(uint8_t* data, uint64_t bytes) : data_(data), bytes_(bytes) {}

  uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace halogen
