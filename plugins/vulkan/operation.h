// One operation of a compiled graph: it knows its operands by number and writes its dispatches.
#pragma once

#include <cstdint>

#include "plugins/vulkan/hazards.h"
#include "plugins/vulkan/step_shape.h"

namespace halogen::vulkan {

class Bindings;
class Recorder;

// A slot from a column on; what operations read and write.
struct Columns {
  uint32_t slot = 0;
  uint32_t first = 0;  // in floats
};

class Operation {
 public:
  virtual ~Operation() = default;
  virtual void record(Recorder& recorder, const Bindings& bindings,
                      const StepShape& shape) const = 0;
};

}  // namespace halogen::vulkan
