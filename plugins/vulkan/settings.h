// How a backend computes; from its configuration.
#pragma once

#include <cstdint>
#include <string>

#include "halogen/config.h"

namespace halogen::vulkan {

struct Settings {
  std::string device;        // "auto", an index or a part of a name
  std::string kernel_cache;  // folder; empty: the user's cache
  bool validation = false;
  bool always_barrier = false;
  bool always_stage = false;
  uint64_t submit_operations = 0;  // in one submission
};

// The keys that a profile may set.
inline constexpr uint32_t kConfigKeyCount = 6;
extern const halogen_config_key* const kConfigKeys[kConfigKeyCount];

// [worker] The values of a create call, which the host has checked.
Settings read_settings(const halogen_config* config);

}  // namespace halogen::vulkan
