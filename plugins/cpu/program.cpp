#include "plugins/cpu/program.h"

#include <chrono>
#include <string>

#include "halogen/cxx/plugin.hpp"

#include "plugins/common/check_step.h"

namespace halogen::cpu {
namespace {

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

std::unique_ptr<Program> Program::create(const halogen_host* host, ThreadTeam& team,
                                         const Settings& settings,
                                         const halogen_program_request& request,
                                         halogen_error* error) {
  std::unique_ptr<Program> program(new Program(team, settings, request));
  if (compile_plan(*request.graph, request.weights, program->copies_, *request.limits, settings,
                   program->plan_, error) != HALOGEN_OK) {
    return nullptr;
  }
  Plan& plan = program->plan_;
  program->arena_ = Memory(plan.arena_bytes);
  program->partials_ = Memory(plan.partial_floats * sizeof(float));
  program->claims_ = std::vector<Claim>(plan.operations.size());
  program->token_sequences_.resize(request.limits->max_tokens);
  for (unsigned i = 0; i < team.size(); i++) {
    program->scratch_.emplace_back(plan.scratch_floats * sizeof(float));
    if (!program->scratch_.back().data()) program->arena_ = Memory();
  }
  if (!program->arena_.data() || !program->partials_.data()) {
    failed(
        error, HALOGEN_E_NO_MEMORY,
        "no memory for " + std::to_string(plan.working_bytes(team.size())) +
            " bytes of activations and scores; a smaller max_batch_tokens or context needs less");
    return nullptr;
  }
  StepContext& context = program->context_;
  context.kernels = settings.kernels;
  context.slots = plan.slots.data();
  context.arena = program->arena_.data();
  context.token_sequences = program->token_sequences_.data();
  context.claims = program->claims_.data();
  context.partials = reinterpret_cast<float*>(program->partials_.data());
  context.members = team.size();
  if (request.progress && !request.progress(request.progress_context, 1.0, "compiled")) {
    failed(error, HALOGEN_E_CANCELLED, "cancelled");
    return nullptr;
  }
  if (!program->copy_weights(host, request, error)) return nullptr;
  return program;
}

bool Program::copy_weights(const halogen_host* host, const halogen_program_request& request,
                           halogen_error* error) {
  switch (settings_.weight_copy) {
    case WeightCopy::off:
      return true;
    case WeightCopy::behind:
      return copies_.begin(host, team_, request, error) == HALOGEN_OK;
    case WeightCopy::first:
      break;
  }
  // Not the program's own team: steps of another program may be running on it.
  const auto helpers = ThreadTeam::start(host, team_.size(), error);
  if (!helpers) return false;
  if (copies_.make(*helpers, request)) return true;
  failed(error, HALOGEN_E_NO_MEMORY,
         "no memory for " + std::to_string(copies_.bytes()) +
             " bytes, a copy of the weights; set weight_copy = \"off\"");
  return false;
}

Program::Program(ThreadTeam& team, const Settings& settings, const halogen_program_request& request)
    : team_(team),
      settings_(settings),
      graph_(request.graph),
      limits_(*request.limits),
      geometry_(*request.geometry),
      cost_(*request.graph, *request.geometry),
      copies_(*request.graph, request.weights, settings) {}

halogen_status Program::submit(KvPool& kv, const halogen_step& step, uint64_t* ticket,
                               halogen_error* error) {
  if (submitted_ != waited_ || !team_.idle()) {
    return failed(error, HALOGEN_E_BUSY, "the step before this one has not been waited for");
  }
  const halogen_status status =
      backends::check_step(*graph_, limits_, {kv.blocks(), kv.block_tokens()}, step, error);
  if (status != HALOGEN_OK) return status;
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    for (uint32_t t = step.sequence_starts[s]; t < step.sequence_starts[s + 1]; t++)
      token_sequences_[t] = s;
  }
  for (Claim& claim : claims_) claim.next.store(0, std::memory_order_relaxed);
  context_.step = step;
  context_.kv = &kv;
  for (const auto& schedule : plan_.schedules) schedule->prepare(step, *settings_.attention);
  started_cost_ = cost_.of(step);
  started_ns_ = now_ns();
  team_ticket_ = team_.begin(*this);
  *ticket = ++submitted_;
  return HALOGEN_OK;
}

halogen_status Program::wait(uint64_t ticket, uint64_t timeout_us, halogen_error* error) {
  if (ticket > submitted_) return failed(error, HALOGEN_E_INVALID, "no step has this ticket");
  if (ticket <= waited_) return HALOGEN_OK;
  if (!team_.finish(team_ticket_, timeout_us)) {
    return failed(
        error, HALOGEN_E_TIMEOUT,
        "the step is still running after " + std::to_string(timeout_us) + " microseconds");
  }
  waited_ = ticket;
  step_bytes_.store(started_cost_.bytes, std::memory_order_relaxed);
  step_operations_.store(started_cost_.operations, std::memory_order_relaxed);
  step_ns_.store(now_ns() - started_ns_, std::memory_order_relaxed);
  return HALOGEN_OK;
}

void Program::run(unsigned member) {
  auto* scratch = reinterpret_cast<float*>(scratch_[member].data());
  for (uint32_t i = 0; i < plan_.operations.size(); i++) {
    if (i > 0) team_.meet();
    plan_.operations[i]->run(context_, i, scratch);
  }
}

void Program::counters(halogen_counters* counters) const {
  counters->bytes = step_bytes_.load(std::memory_order_relaxed);
  counters->operations = step_operations_.load(std::memory_order_relaxed);
  counters->submissions = 1;
  counters->device_seconds = static_cast<double>(step_ns_.load(std::memory_order_relaxed)) * 1e-9;
  if (HALOGEN_HAS(counters, pending_weight_bytes))
    counters->pending_weight_bytes = copies_.pending_bytes();
}

}  // namespace halogen::cpu
