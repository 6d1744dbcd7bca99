#include "plugins/cpu/weight_copies.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include <sys/resource.h>

#include "halogen/cxx/plugin.hpp"

#include "plugins/cpu/kernels/block_layouts.h"
#include "plugins/cpu/kernels/interleave.h"
#include "plugins/cpu/plan.h"

namespace halogen::cpu {
namespace {

constexpr uint64_t kPartBytes = uint64_t{1} << 20;  // copied between two looks at whether to stop
constexpr uint64_t kAlignment = 64;
constexpr int kNice = 10;  // of the thread that copies beside steps
constexpr auto kPause = std::chrono::milliseconds(1);
constexpr int kPausesBefore = 300;  // in which the rest of a start has the machine for itself

Interleaving interleaving(const WeightMatrix& matrix) {
  return {matrix.type, matrix.rows, matrix.k, matrix.panel_rows};
}

// Rows that are copied together.
uint32_t unit_rows(const WeightMatrix& matrix) {
  return std::max(1U, matrix.panel_rows);
}
uint32_t units(const WeightMatrix& matrix) {
  return (matrix.rows + unit_rows(matrix) - 1) / unit_rows(matrix);
}
uint32_t units_per_part(const WeightMatrix& matrix) {
  const uint64_t unit_bytes = unit_rows(matrix) * matrix.row_bytes;
  return static_cast<uint32_t>(std::max<uint64_t>(1, kPartBytes / unit_bytes));
}
uint32_t parts(const WeightMatrix& matrix) {
  return (units(matrix) + units_per_part(matrix) - 1) / units_per_part(matrix);
}

// How a graph reads each of its weights: not as a matrix, by rows, or in products.
enum class Use : uint8_t { none, looked_up, multiplied };

std::vector<Use> uses_of(const halogen_graph& graph) {
  std::vector<Use> uses(graph.n_weights, Use::none);
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const halogen_node& node = *graph.nodes[i];
    if (node.op != HALOGEN_OP_LINEAR && node.op != HALOGEN_OP_EMBED) continue;
    Use& use = uses[graph.values[node.inputs[1]]->source];
    use = std::max(use, node.op == HALOGEN_OP_LINEAR ? Use::multiplied : Use::looked_up);
  }
  return uses;
}

}  // namespace

uint64_t WeightMatrix::copy_bytes() const {
  return panel_rows == 0 ? rows * row_bytes : interleaving(*this).bytes();
}

void WeightMatrix::give_to(LinearCall& call) const {
  const uint8_t* const whole = copy.load(std::memory_order_acquire);
  call.weights = whole ? whole : file;
  call.row_bytes = row_bytes;
  call.k = k;
  call.interleaved = whole && panel_rows != 0;
}

void WeightMatrix::read_row(const KernelSet& kernels, uint64_t row, float* out) const {
  const uint8_t* const whole = copy.load(std::memory_order_acquire);
  if (!whole || panel_rows == 0) {
    kernels.dequantise(type, (whole ? whole : file) + row * row_bytes, k, out);
    return;
  }
  const uint32_t elements = halogen_type_find(type)->block_elements;
  uint8_t block[sizeof(BlockQ6_K)];  // the largest
  for (uint32_t i = 0; i < k / elements; i++) {
    read_interleaved_block(interleaving(*this), whole, row, i, block);
    kernels.dequantise(type, block, elements, out + size_t{i} * elements);
  }
}

WeightCopies::WeightCopies(const halogen_graph& graph, const halogen_weight_data* weights,
                           const Settings& settings)
    : by_weight_(graph.n_weights) {
  const std::vector<Use> uses = uses_of(graph);
  for (uint32_t index = 0; index < graph.n_weights; index++) {
    const halogen_weight& weight = *graph.weights[index];
    const halogen_type_traits* traits = halogen_type_find(weight.type);
    if (uses[index] == Use::none || !traits) continue;  // an unknown type is refused elsewhere
    auto entry = std::make_unique<Entry>();
    WeightMatrix& matrix = entry->matrix;
    matrix.type = weight.type;
    matrix.rows = static_cast<uint32_t>(weight.dims[0]);
    matrix.k = static_cast<uint32_t>(weight.dims[1]);
    matrix.row_bytes = halogen_row_bytes(weight.type, matrix.k);
    if (uses[index] == Use::multiplied && traits->block_elements > 1 && !settings.exact)
      matrix.panel_rows = static_cast<uint32_t>(settings.kernels->panel_rows);
    matrix.file = weights ? static_cast<const uint8_t*>(weights[index].data) : nullptr;
    entry->weight = index;
    entry->offset = bytes_;
    bytes_ += (matrix.copy_bytes() + kAlignment - 1) / kAlignment * kAlignment;
    original_bytes_ += weight.bytes;
    by_weight_[index] = entry.get();
    entries_.push_back(std::move(entry));
  }
}

WeightCopies::~WeightCopies() {
  stopping_ = true;
  if (thread_) host_->thread_join(host_, thread_);
}

const WeightMatrix* WeightCopies::find(uint32_t weight) const {
  return by_weight_[weight] ? &by_weight_[weight]->matrix : nullptr;
}

bool WeightCopies::take_memory(const halogen_program_request& request) {
  memory_ = Memory::untouched(bytes_);
  if (!memory_.data()) return false;
  pending_bytes_ = original_bytes_;
  if (HALOGEN_HAS(&request, weight_context)) {
    release_ = request.weight_release;
    release_context_ = request.weight_context;
  }
  return true;
}

bool WeightCopies::make(ThreadTeam& team, const halogen_program_request& request) {
  if (!take_memory(request)) return false;
  team.finish(team.begin(*this), UINT64_MAX);
  for (const auto& entry : entries_) {
    publish(*entry);
    if (release_) release_(release_context_, entry->weight);
  }
  return true;
}

void WeightCopies::run(unsigned /*member*/) {
  for (const auto& entry : entries_) {
    const uint32_t end = parts(entry->matrix);
    for (uint32_t part = entry->next_part++; part < end; part = entry->next_part++)
      copy_part(*entry, part);
  }
}

halogen_status WeightCopies::begin(const halogen_host* host, const ThreadTeam& team,
                                   const halogen_program_request& request, halogen_error* error) {
  if (!take_memory(request)) {
    return failed(error, HALOGEN_E_NO_MEMORY,
                  "no memory for a copy of the weights; set weight_copy = \"off\"");
  }
  host_ = host;
  team_ = &team;
  const auto run = [](void* copies) { static_cast<WeightCopies*>(copies)->copy_behind(); };
  return host->thread_start(host, "hg-cpu-weights", run, this, &thread_, error);
}

void WeightCopies::copy_behind() {
  ::setpriority(PRIO_PROCESS, 0, kNice);  // of this thread alone
  for (int i = 0; i < kPausesBefore && !stopping_; i++) std::this_thread::sleep_for(kPause);
  const auto started = std::chrono::steady_clock::now();
  std::vector<Original> originals;
  for (const auto& entry : entries_) {
    for (uint32_t part = 0; part < parts(entry->matrix); part++) {
      if (stopping_) return;
      copy_part(*entry, part);
    }
    publish(*entry);
    // A step that begins from here on takes the copy.
    originals.push_back({entry->weight, team_->newest()});
    release_read(originals);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  Host(host_).info("copied " + std::to_string(original_bytes_ >> 20) + " MiB of weights in " +
                   std::to_string(static_cast<int>(took.count() * 1000)) + " ms");
  while (!originals.empty() && !stopping_) {
    std::this_thread::sleep_for(kPause);
    release_read(originals);
  }
}

void WeightCopies::copy_part(const Entry& entry, uint32_t part) {
  const WeightMatrix& matrix = entry.matrix;
  uint8_t* const out = memory_.data() + entry.offset;
  const uint32_t first = part * units_per_part(matrix);
  const uint32_t end = std::min(units(matrix), first + units_per_part(matrix));
  if (matrix.panel_rows == 0) {
    const uint64_t begin = first * matrix.row_bytes;
    std::memcpy(out + begin, matrix.file + begin, end * matrix.row_bytes - begin);
    return;
  }
  const Interleaving layout = interleaving(matrix);
  for (uint32_t panel = first; panel < end; panel++)
    interleave_panel(layout, matrix.file, panel, out + panel * layout.panel_bytes());
}

void WeightCopies::publish(Entry& entry) {
  entry.matrix.copy.store(memory_.data() + entry.offset, std::memory_order_seq_cst);
  // Whoever sees the team idle, or a ticket, after this, sees a team that will read the copy.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  pending_bytes_ -= entry.matrix.rows * entry.matrix.row_bytes;
}

void WeightCopies::release_read(std::vector<Original>& originals) {
  std::erase_if(originals, [&](const Original& original) {
    if (!team_->done(original.ticket)) return false;
    if (release_) release_(release_context_, original.weight);
    return true;
  });
}

}  // namespace halogen::cpu
