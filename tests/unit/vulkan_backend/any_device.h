// The first device that a Vulkan driver of this machine offers, for tests that need one.
#pragma once

#include <memory>

#include "plugins/vulkan/device.h"
#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {

struct AnyDevice {
  Instance instance{false};
  std::vector<Adapter> adapters = list_adapters(instance);
  Device device{instance, choose_adapter(adapters, "auto")};

  // Null, with the reason, where there is none.
  static std::unique_ptr<AnyDevice> open(std::string& reason) {
    try {
      return std::make_unique<AnyDevice>();
    } catch (const Failure& failure) {
      reason = failure.what();
      return nullptr;
    }
  }
};

}  // namespace halogen::vulkan
