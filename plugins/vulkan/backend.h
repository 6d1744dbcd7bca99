// One opened device with what its programs share.
#pragma once

#include <vector>

#include "plugins/vulkan/pipelines.h"
#include "plugins/vulkan/settings.h"
#include "plugins/vulkan/transfers.h"

namespace halogen::vulkan {

struct Backend {
  // [worker] Throws a Failure. `host` outlives the backend.
  Backend(const halogen::Host& host, Settings chosen)
      : settings(std::move(chosen)),
        instance(settings.validation),
        adapters(list_adapters(instance)),
        device(instance, choose_adapter(adapters, settings.device)),
        transfers(device, settings.always_stage),
        cache(device, settings.kernel_cache, host),
        pipelines(device, cache, host.table()) {}

  const Adapter& adapter() const { return device.adapter(); }

  Settings settings;
  Instance instance;
  std::vector<Adapter> adapters;
  Device device;
  Transfers transfers;
  PipelineCache cache;
  Pipelines pipelines;
};

}  // namespace halogen::vulkan
