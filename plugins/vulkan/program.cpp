#include "plugins/vulkan/program.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "plugins/common/check_step.h"
#include "plugins/vulkan/failure.h"
#include "plugins/vulkan/recorder.h"

namespace halogen::vulkan {
namespace {

// A sequence with more tokens in a step than these is being prefilled.
constexpr uint32_t kLongestDecode = 8;

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// Besides the weights.
uint64_t scratch_bytes(const Plan& plan) {
  return MemoryPool::aligned(plan.arena_bytes) +
         MemoryPool::aligned(plan.partial_floats * sizeof(float)) +
         MemoryPool::aligned(plan.tile_bytes);
}

uint64_t output_bytes(const Plan& plan, const std::optional<Columns>& output,
                      const halogen_limits& limits) {
  if (!output) return 0;
  const Slot& slot = plan.slots[output->slot];
  return plan.rows_of(slot, limits) * slot.stride * sizeof(float);
}

uint64_t read_back_bytes(const Plan& plan, const halogen_limits& limits) {
  return MemoryPool::aligned(output_bytes(plan, plan.logits, limits)) +
         MemoryPool::aligned(output_bytes(plan, plan.hidden, limits));
}

// The progress of a program: `share` of a part of the whole.
bool tell(const halogen_program_request& request, double first, double length, double share,
          const char* what) {
  return !request.progress ||
         request.progress(request.progress_context, first + length * share, what);
}
constexpr double kCompiling = 0.5;  // of a program's making

uint32_t bucket(uint32_t count, uint32_t most) {
  return count == 0 ? 0 : std::min(std::bit_ceil(count), most);
}

uint64_t nanoseconds(uint64_t microseconds) {
  return microseconds > UINT64_MAX / 1000 ? UINT64_MAX : microseconds * 1000;
}

}  // namespace

uint64_t Program::device_bytes(const Plan& plan, const halogen_program_request& request) {
  return WeightStore::bytes(plan, *request.graph, *request.limits) + scratch_bytes(plan) +
         StepArrays::bytes(*request.limits, request.geometry->block_tokens) +
         read_back_bytes(plan, *request.limits);
}

Program::Program(Backend& backend, const halogen_program_request& request)
    : backend_(backend),
      graph_(*request.graph),
      limits_(*request.limits),
      geometry_(*request.geometry),
      cost_(*request.graph, *request.geometry),
      plan_(compile_plan(request, backend.adapter())),
      pipelines_(compile(request)),
      weights_(backend.device, backend.transfers, plan_, request,
               [&](double share) {
                 return tell(request, kCompiling, 1 - kCompiling, share,
                             "copying weights to the device");
               }),
      memory_(backend.device, MemoryUse::device, scratch_bytes(plan_)),
      upload_memory_(backend.device, MemoryUse::upload,
                     StepArrays::bytes(limits_, geometry_.block_tokens)),
      read_back_memory_(backend.device, MemoryUse::read_back, read_back_bytes(plan_, limits_)),
      arena_(memory_.take(plan_.arena_bytes)),
      partials_(memory_.take(plan_.partial_floats * sizeof(float))),
      tiles_(memory_.take(plan_.tile_bytes)),
      arrays_(upload_memory_.take(StepArrays::bytes(limits_, geometry_.block_tokens)), limits_,
              geometry_.block_tokens),
      logits_(read_back_memory_.take(output_bytes(plan_, plan_.logits, limits_))),
      hidden_(read_back_memory_.take(output_bytes(plan_, plan_.hidden, limits_))),
      fence_(backend.device) {
  backend.instance.validation().check();
  if (!HALOGEN_HAS(&request, weight_context) || !request.weight_release) return;
  for (uint32_t i = 0; i < graph_.n_weights; i++) request.weight_release(request.weight_context, i);
}

Program::~Program() {
  backend_.device.drain();  // a step that missed its deadline still uses what goes now
}

std::vector<VkPipeline> Program::compile(const halogen_program_request& request) {
  return backend_.pipelines.get(plan_.pipelines, [&](double share) {
    return tell(request, 0, kCompiling, share, "compiling shaders");
  });
}

bool Program::takes_tiles(const halogen_step& step) const {
  if (plan_.tile_tokens == 0) return false;
  if (step.n_tokens > plan_.decode_tokens) return true;
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    if (step.sequence_starts[s + 1] - step.sequence_starts[s] > kLongestDecode) return true;
  }
  return false;
}

StepShape Program::shape_of(const halogen_step& step, uint32_t tiles) const {
  const uint32_t longest =
      *std::max_element(step.context_lengths, step.context_lengths + step.n_sequences);
  StepShape shape;
  shape.tokens = bucket(step.n_tokens, limits_.max_tokens);
  shape.rows = bucket(step.n_rows, limits_.max_rows);
  shape.tiles = bucket(tiles, limits_.max_tokens);
  shape.splits = bucket(groups_of(longest, plan_.splits.positions), plan_.splits.most);
  shape.hidden = step.hidden != nullptr;
  return shape;
}

const Commands& Program::recorded(const KvPool& kv, const StepShape& shape) {
  if (const Commands* known = recordings_.find(kv, shape)) return *known;
  const Bindings bindings(plan_, weights_, arrays_, kv, arena_, partials_, tiles_);
  auto commands = std::make_unique<Commands>(backend_.device);
  Recorder recorder(backend_.device, backend_.pipelines.layout(), pipelines_,
                    {backend_.settings.always_barrier, backend_.settings.submit_operations},
                    *commands);
  for (const auto& operation : plan_.operations) operation->record(recorder, bindings, shape);
  read_back(recorder, bindings, plan_.logits, shape.rows, logits_);
  if (shape.hidden) read_back(recorder, bindings, plan_.hidden, shape.rows, hidden_);
  recorder.finish();
  return recordings_.keep(kv, shape, std::move(commands));
}

void Program::read_back(Recorder& recorder, const Bindings& bindings,
                        const std::optional<Columns>& from, uint32_t rows, const Span& to) const {
  if (!from || rows == 0) return;
  const Span span = bindings.span(*from, rows);
  recorder.copy(span, to.part(0, span.bytes));
}

halogen_status Program::submit(KvPool& kv, const halogen_step& step, uint64_t* ticket,
                               halogen_error* error) {
  if (submitted_ != waited_)
    return failed(error, HALOGEN_E_BUSY, "the step before this one has not been waited for");
  const halogen_status status = backends::check_step(graph_, limits_, kv.size(), step, error);
  if (status != HALOGEN_OK) return status;
  const uint32_t tiles =
      arrays_.fill(step, takes_tiles(step) ? plan_.tile_tokens : 0, plan_.splits.positions);
  const Commands& commands = recorded(kv, shape_of(step, tiles));
  step_ = step;
  started_ns_ = now_ns();
  backend_.device.submit(commands.all(), fence_.handle());
  submissions_.store(commands.all().size(), std::memory_order_relaxed);
  *ticket = ++submitted_;
  return HALOGEN_OK;
}

halogen_status Program::wait(uint64_t ticket, uint64_t timeout_us, halogen_error* error) {
  if (ticket > submitted_) return failed(error, HALOGEN_E_INVALID, "no step has this ticket");
  if (ticket <= waited_) return HALOGEN_OK;
  if (!backend_.device.wait(fence_.handle(), nanoseconds(timeout_us))) {
    return failed(
        error, HALOGEN_E_TIMEOUT,
        "the step is still running after " + std::to_string(timeout_us) + " microseconds");
  }
  step_ns_.store(now_ns() - started_ns_, std::memory_order_relaxed);
  fence_.reset();
  waited_ = ticket;
  backend_.instance.validation().check();
  copy_out(plan_.logits, logits_, graph_.vocabulary_size, step_.logits);
  copy_out(plan_.hidden, hidden_, graph_.hidden_size, step_.hidden);
  const backends::StepCost::Figures cost = cost_.of(step_);
  step_bytes_.store(cost.bytes, std::memory_order_relaxed);
  step_operations_.store(cost.operations, std::memory_order_relaxed);
  return HALOGEN_OK;
}

void Program::copy_out(const std::optional<Columns>& from, const Span& rows, uint32_t width,
                       float* out) const {
  if (!from || !out) return;
  const uint64_t stride = plan_.slots[from->slot].stride * sizeof(float);
  for (uint32_t r = 0; r < step_.n_rows; r++)
    std::memcpy(out + uint64_t{r} * width, rows.host + r * stride, width * sizeof(float));
}

void Program::forget(const KvPool& kv) {
  backend_.device.drain();
  recordings_.forget(kv);
}

void Program::counters(halogen_counters* counters) const {
  counters->bytes = step_bytes_.load(std::memory_order_relaxed);
  counters->operations = step_operations_.load(std::memory_order_relaxed);
  counters->submissions = submissions_.load(std::memory_order_relaxed);
  counters->device_seconds = static_cast<double>(step_ns_.load(std::memory_order_relaxed)) * 1e-9;
  if (HALOGEN_HAS(counters, pending_weight_bytes)) counters->pending_weight_bytes = 0;
}

}  // namespace halogen::vulkan
