// A compiled graph with the memory and the threads that its steps need.
#pragma once

#include <memory>
#include <vector>

#include "halogen/backend.h"

#include "plugins/common/step_cost.h"
#include "plugins/cpu/memory.h"
#include "plugins/cpu/plan.h"
#include "plugins/cpu/thread_team.h"
#include "plugins/cpu/weight_copies.h"

namespace halogen::cpu {

class Program final : public TeamJob {
 public:
  // [worker] Null, with *error filled, when memory or kernels are missing.
  static std::unique_ptr<Program> create(const halogen_host* host, ThreadTeam& team,
                                         const Settings& settings,
                                         const halogen_program_request& request,
                                         halogen_error* error);

  ~Program() { team_.drain(); }  // a step that missed its deadline still reads what goes now
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const halogen_graph& graph() const { return *graph_; }
  const halogen_kv_geometry& geometry() const { return geometry_; }

  // [device] As halogen/backend.h says; one step at a time.
  halogen_status submit(KvPool& kv, const halogen_step& step, uint64_t* ticket,
                        halogen_error* error);
  halogen_status wait(uint64_t ticket, uint64_t timeout_us, halogen_error* error);

  // [any]
  void counters(halogen_counters* counters) const;

  void run(unsigned member) override;  // one team member's part of a step

 private:
  Program(ThreadTeam& team, const Settings& settings, const halogen_program_request& request);
  bool copy_weights(const halogen_host* host, const halogen_program_request& request,
                    halogen_error* error);

  ThreadTeam& team_;
  Settings settings_;
  const halogen_graph* graph_;
  halogen_limits limits_;
  halogen_kv_geometry geometry_;
  backends::StepCost cost_;
  WeightCopies copies_;
  Plan plan_;
  Memory arena_;
  Memory partials_;
  std::vector<Claim> claims_;
  std::vector<uint32_t> token_sequences_;
  std::vector<Memory> scratch_;  // [team size]
  StepContext context_;
  uint32_t team_ticket_ = 0;
  uint64_t submitted_ = 0;  // steps so far; the last one's ticket
  uint64_t waited_ = 0;     // the last step known to be done
  uint64_t started_ns_ = 0;
  backends::StepCost::Figures started_cost_;  // of the step in flight
  std::atomic<uint64_t> step_bytes_{0}, step_operations_{0}, step_ns_{0};
};

}  // namespace halogen::cpu
