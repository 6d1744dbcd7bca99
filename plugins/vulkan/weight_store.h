// A program's weights on the device: matrices in the file's layout, vectors as floats, and the
// angles of its rotations.
#pragma once

#include <functional>
#include <vector>

#include "halogen/backend.h"

#include "plugins/vulkan/plan.h"
#include "plugins/vulkan/transfers.h"

namespace halogen::vulkan {

class WeightStore {
 public:
  // Bytes on the device.
  static uint64_t bytes(const Plan& plan, const halogen_graph& graph, const halogen_limits& limits);

  // Called with the share that is done; false asks to stop.
  using Progress = std::function<bool(double)>;
  // [worker] Copies everything to the device. Throws a Failure.
  WeightStore(Device& device, Transfers& transfers, const Plan& plan,
              const halogen_program_request& request, const Progress& progress);

  uint64_t matrix(uint32_t weight) const { return matrices_[weight].address; }
  uint64_t vector(uint32_t weight) const { return vectors_[weight].address; }
  // Tables of (cos, sin) pairs, as RopeConstants has them.
  struct Angles {
    uint64_t fine, coarse;
  };
  Angles angles(uint32_t rotation) const { return angles_[rotation]; }

 private:
  Span put(const void* data, uint64_t bytes);
  std::vector<float> floats(const halogen_program_request& request, uint32_t weight) const;
  void put_weight(const Plan& plan, const halogen_program_request& request, uint32_t weight);
  void put_angles(const Rotation& rotation, const halogen_program_request& request);

  Transfers& transfers_;
  MemoryPool memory_;
  std::vector<Span> matrices_, vectors_;  // [weights]
  std::vector<Angles> angles_;
};

}  // namespace halogen::vulkan
