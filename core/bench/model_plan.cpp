#include "core/bench/model_plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "core/graph/ledger.h"

namespace halogen::bench {
namespace {

struct CacheTypes {
  std::string name;
  halogen_type keys, values;
};

std::string cache_name(halogen_type type) {
  switch (type) {
    case HALOGEN_F32:
      return "f32";
    case HALOGEN_F16:
      return "f16";
    case HALOGEN_Q8_0:
      return "q8_0";
    case HALOGEN_Q4_0:
      return "q4_0";
    default:
      return "?";
  }
}

// Those that are the same for keys and values, and the profile's where it is not among them. The
// profile's name is left in `chosen`.
std::vector<CacheTypes> cache_types(const halogen_kv_geometry& profile, std::string& chosen) {
  std::vector<CacheTypes> types;
  for (const halogen_type type : {HALOGEN_F32, HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0})
    types.push_back({cache_name(type), type, type});
  chosen = cache_name(profile.key_type);
  if (profile.key_type == profile.value_type) return types;
  chosen += " and " + cache_name(profile.value_type);
  types.push_back({chosen, profile.key_type, profile.value_type});
  return types;
}

constexpr uint32_t kShortestContext = 2048;

std::string type_name(halogen_type type) {
  const halogen_type_traits* traits = halogen_type_find(type);
  return traits ? traits->name : "?";
}

std::vector<ModelPlan::Weights> weights_by_type(const halogen_graph& graph) {
  std::map<halogen_type, ModelPlan::Weights> by_type;
  for (uint32_t i = 0; i < graph.n_weights; i++) {
    ModelPlan::Weights& sum = by_type[graph.weights[i]->type];
    sum.type = type_name(graph.weights[i]->type);
    sum.tensors++;
    sum.bytes += graph.weights[i]->bytes;
  }
  std::vector<ModelPlan::Weights> sorted;
  for (auto& [type, sum] : by_type) sorted.push_back(std::move(sum));
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return sorted;
}

// Every head's keys and values are whole blocks of their type.
bool holds(const halogen_graph& graph, const CacheTypes& types) {
  const uint32_t keys = halogen_type_find(types.keys)->block_elements;
  const uint32_t values = halogen_type_find(types.values)->block_elements;
  for (uint32_t i = 0; i < graph.n_kv_layers; i++) {
    const halogen_kv_layer& layer = *graph.kv_layers[i];
    if (layer.key_dim % keys != 0 || layer.value_dim % values != 0) return false;
  }
  return true;
}

double rate(const PlannedMachine& machine, const Ledger& ledger, uint64_t streams,
            uint32_t context) {
  const double bytes =
      static_cast<double>(ledger.read_weight_bytes()) +
      static_cast<double>(streams) * static_cast<double>(ledger.kv_read_bytes(context));
  return bytes > 0 ? static_cast<double>(streams) * machine.read_bandwidth / bytes : 0;
}

// 2048, 4096, … and the longest.
std::vector<uint32_t> lengths_up_to(uint32_t longest) {
  std::vector<uint32_t> lengths;
  for (uint64_t length = kShortestContext; length < longest; length *= 2)
    lengths.push_back(static_cast<uint32_t>(length));
  lengths.push_back(longest);
  return lengths;
}

ModelPlan::Cache plan_cache(const ModelNeeds& needs, const PlannedMachine& machine,
                            const CacheTypes& types) {
  const Ledger ledger(needs.graph.table(), types.keys, types.values);
  ModelPlan::Cache plan{types.name, ledger.kv_token_bytes(), 0, 0, {}};
  // All blocks that the machine has room for, however many the requests could use.
  MemoryInputs memory = needs.memory;
  memory.machine_bytes = machine.memory_bytes;
  memory.block_bytes = plan.token_bytes * memory.block_tokens;
  memory.context = 1;
  memory.max_sequences = std::numeric_limits<uint32_t>::max();
  const auto blocks = plan_kv_blocks(memory);
  if (!blocks) return plan;
  plan.pool_bytes = *blocks * memory.block_bytes;
  plan.pool_tokens = uint64_t{*blocks} * memory.block_tokens;
  for (const uint32_t context : lengths_up_to(needs.limits.max_context)) {
    ModelPlan::Length length{.context = context};
    length.streams = *blocks / ((context + memory.block_tokens - 1) / memory.block_tokens);
    length.together = std::min<uint64_t>(length.streams, needs.limits.max_sequences);
    if (length.streams > 0) {
      length.one_stream = rate(machine, ledger, 1, context);
      length.all_streams = rate(machine, ledger, length.together, context);
    }
    plan.lengths.push_back(length);
  }
  return plan;
}

std::string why_not(const ModelNeeds& needs, const PlannedMachine& machine) {
  MemoryInputs memory = needs.memory;
  memory.machine_bytes = machine.memory_bytes;
  for (const auto& blocks : {plan_host_blocks(memory), plan_kv_blocks(memory)}) {
    if (!blocks) return blocks.error().message;
  }
  return {};
}

}  // namespace

double ModelPlan::ceiling() const {
  return token_weight_bytes > 0 ? machine.read_bandwidth / static_cast<double>(token_weight_bytes)
                                : 0;
}

ModelPlan plan_model(const ModelNeeds& needs, const PlannedMachine& machine) {
  const halogen_graph& graph = needs.graph.table();
  const Ledger ledger(graph, needs.geometry.key_type, needs.geometry.value_type);
  ModelPlan plan;
  plan.architecture = needs.hyperparameters.architecture;
  plan.layers = needs.hyperparameters.layers;
  for (uint32_t i = 0; i < graph.n_kv_layers; i++) {
    if (graph.kv_layers[i]->window == 0) continue;
    plan.windowed_layers++;
    plan.window = graph.kv_layers[i]->window;
  }
  plan.context = needs.limits.max_context;
  plan.weights = weights_by_type(graph);
  plan.weight_bytes = ledger.weight_bytes();
  plan.token_weight_bytes = ledger.read_weight_bytes();
  plan.program_bytes = needs.memory.program_bytes;
  plan.machine = machine;
  plan.problem = why_not(needs, machine);
  for (const CacheTypes& types : cache_types(needs.geometry, plan.cache_type)) {
    if (holds(graph, types)) plan.caches.push_back(plan_cache(needs, machine, types));
  }
  return plan;
}

}  // namespace halogen::bench
