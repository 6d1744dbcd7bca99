// halogen plan MODEL: whether it fits and how fast it can be, before it is loaded.
#include <iostream>

#include "core/bench/machine_speed.h"
#include "core/bench/model_plan.h"
#include "core/cli/commands.h"
#include "core/cli/measured_model.h"
#include "core/config/units.h"

namespace halogen::cli {
namespace {

// What is given counts, and the rest is this machine's.
Result<bench::PlannedMachine> machine_of(const PlanArguments& arguments, const Profile& profile,
                                         const ModelNeeds& needs) {
  bench::PlannedMachine machine{needs.memory.machine_bytes, arguments.bandwidth * 1e9};
  if (!arguments.memory.empty()) {
    auto size = parse_size(arguments.memory);
    if (!size) return within("--memory", size.error());
    if (size->is_share() || size->amount() == 0)
      return fail(HALOGEN_E_INVALID,
                  "--memory " + arguments.memory + ": it must be a size, such as 128G");
    machine.memory_bytes = size->amount();
  }
  // Another machine's speed cannot be measured here.
  if (machine.read_bandwidth == 0 && arguments.memory.empty())
    machine.read_bandwidth = bench::measure_read_bandwidth(threads_of(profile));
  return machine;
}

}  // namespace

int plan(const PlanArguments& arguments) {
  auto profile = profile_of(arguments.model);
  if (!profile) return report(profile.error());
  start_log(profile->log);
  auto runtime = Runtime::create(*profile);
  if (!runtime) return report(runtime.error());
  auto needs = ServedModel::examine(*profile, (*runtime)->plugins());
  if (!needs) return report(needs.error());
  auto machine = machine_of(arguments, *profile, *needs);
  if (!machine) return report(machine.error());
  const bench::ModelPlan plan = bench::plan_model(*needs, *machine);
  std::cout << (arguments.json ? plan_json(plan) : plan_text(plan));
  return plan.fits() ? kSuccess : kFailure;
}

}  // namespace halogen::cli
