// A compiled graph on a device, with the memory that its steps need.
#pragma once

#include <atomic>

#include "halogen/backend.h"

#include "plugins/common/step_cost.h"
#include "plugins/vulkan/backend.h"
#include "plugins/vulkan/bindings.h"
#include "plugins/vulkan/recordings.h"

namespace halogen::vulkan {

class Program {
 public:
  // [any] Bytes that a program of this plan takes, weights among them.
  static uint64_t device_bytes(const Plan& plan, const halogen_program_request& request);

  // [worker] Compiles and copies the weights, which are released then. Throws a Failure.
  Program(Backend& backend, const halogen_program_request& request);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Backend& backend() const { return backend_; }
  const halogen_graph& graph() const { return graph_; }
  const halogen_kv_geometry& geometry() const { return geometry_; }

  // [device] As halogen/backend.h says; one step at a time.
  halogen_status submit(KvPool& kv, const halogen_step& step, uint64_t* ticket,
                        halogen_error* error);
  halogen_status wait(uint64_t ticket, uint64_t timeout_us, halogen_error* error);
  // [worker] Nothing of the pool is in flight, and its memory goes.
  void forget(const KvPool& kv);

  // [any]
  void counters(halogen_counters* counters) const;

 private:
  std::vector<VkPipeline> compile(const halogen_program_request& request);
  StepShape shape_of(const halogen_step& step, uint32_t tiles) const;
  bool takes_tiles(const halogen_step& step) const;
  const Commands& recorded(const KvPool& kv, const StepShape& shape);
  void read_back(Recorder& recorder, const Bindings& bindings, const std::optional<Columns>& from,
                 uint32_t rows, const Span& to) const;
  void copy_out(const std::optional<Columns>& from, const Span& rows, uint32_t width,
                float* out) const;

  Backend& backend_;
  const halogen_graph& graph_;
  halogen_limits limits_;
  halogen_kv_geometry geometry_;
  backends::StepCost cost_;
  Plan plan_;
  std::vector<VkPipeline> pipelines_;  // [plan_.pipelines]
  WeightStore weights_;
  MemoryPool memory_, upload_memory_, read_back_memory_;
  Span arena_, partials_, tiles_;
  StepArrays arrays_;
  Span logits_, hidden_;  // where the host reads them
  Recordings recordings_;
  Fence fence_;

  halogen_step step_{};     // in flight
  uint64_t submitted_ = 0;  // steps so far; the last one's ticket
  uint64_t waited_ = 0;     // the last step known to be done
  uint64_t started_ns_ = 0;
  std::atomic<uint64_t> step_bytes_{0}, step_operations_{0}, step_ns_{0}, submissions_{0};
};

}  // namespace halogen::vulkan
