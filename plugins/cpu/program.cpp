#include "plugins/cpu/program.h"

#include <chrono>
#include <string>

#include "halogen/cxx/plugin.hpp"

namespace halogen::cpu {
namespace {

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

halogen_status bad_step(halogen_error* error, const std::string& what) {
  return failed(error, HALOGEN_E_INVALID, "step refused: " + what);
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
  if (copies_.make(team_, request)) return true;
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
  if (const halogen_status status = check(kv, step, error); status != HALOGEN_OK) return status;
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

halogen_status Program::check(const KvPool& kv, const halogen_step& step,
                              halogen_error* error) const {
  if (step.n_tokens == 0 || step.n_tokens > limits_.max_tokens || step.n_sequences == 0 ||
      step.n_sequences > limits_.max_sequences || step.n_rows > limits_.max_rows) {
    return bad_step(error, std::to_string(step.n_tokens) + " tokens, " +
                               std::to_string(step.n_sequences) + " sequences or " +
                               std::to_string(step.n_rows) +
                               " rows are more than the program's limits, or none");
  }
  if (graph_->logits != HALOGEN_NO_VALUE && step.n_rows > 0 && !step.logits) {
    return bad_step(error, "rows are wanted but there is no place for their logits");
  }
  const uint64_t slots = uint64_t{kv.blocks()} * kv.block_tokens();
  for (uint32_t t = 0; t < step.n_tokens; t++) {
    if (step.token_ids[t] < 0 ||
        static_cast<uint32_t>(step.token_ids[t]) >= graph_->vocabulary_size) {
      return bad_step(
          error, "token id " + std::to_string(step.token_ids[t]) + " is not in the vocabulary");
    }
    if (step.kv_slots[t] >= slots) return bad_step(error, "a KV slot is outside the pool");
  }
  for (uint32_t r = 0; r < step.n_rows; r++) {
    if (step.rows[r] < 0 || static_cast<uint32_t>(step.rows[r]) >= step.n_tokens) {
      return bad_step(error, "a wanted row is not one of the step's tokens");
    }
  }
  if (step.sequence_starts[0] != 0 || step.sequence_starts[step.n_sequences] != step.n_tokens) {
    return bad_step(error, "the sequences do not cover the tokens");
  }
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    if (const halogen_status status = check_sequence(kv, step, s, error); status != HALOGEN_OK)
      return status;
  }
  return HALOGEN_OK;
}

halogen_status Program::check_sequence(const KvPool& kv, const halogen_step& step,
                                       uint32_t sequence, halogen_error* error) const {
  const uint32_t begin = step.sequence_starts[sequence], end = step.sequence_starts[sequence + 1];
  const uint32_t length = step.context_lengths[sequence];
  if (begin > end || end > step.n_tokens)
    return bad_step(error, "sequence starts are not in order");
  const uint32_t blocks = (length + kv.block_tokens() - 1) / kv.block_tokens();
  if (length > limits_.max_context || blocks > step.block_table_stride) {
    return bad_step(error, "a context of " + std::to_string(length) + " positions is too long");
  }
  for (uint32_t t = begin; t < end; t++) {
    if (step.positions[t] < 0 || static_cast<uint32_t>(step.positions[t]) >= length) {
      return bad_step(error,
                      "position " + std::to_string(step.positions[t]) + " is outside the context");
    }
  }
  const uint32_t* table = step.block_tables + size_t{sequence} * step.block_table_stride;
  for (uint32_t b = 0; b < blocks; b++) {
    if (table[b] >= kv.blocks())
      return bad_step(error, "a block table names a block outside the pool");
  }
  return HALOGEN_OK;
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
