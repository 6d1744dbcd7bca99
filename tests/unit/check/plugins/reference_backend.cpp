// A backend over the float64 reference: right in every operator that the reference has, or wrong in
// the one way that the setting `fault` names.
#include <csignal>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "halogen/backend.h"
#include "halogen/cxx/plugin.hpp"

#include "core/check/backend/altered_graph.h"
#include "core/check/reference/dequantise.h"
#include "core/check/reference/evaluate.h"

using halogen::reference::KvCache;
using halogen::reference::Precision;
using halogen::reference::Tensor;

struct halogen_backend {
  std::string fault;
};
struct halogen_program {
  const halogen_backend* backend;
  std::unique_ptr<halogen::check::AlteredGraph> graph;
  std::vector<const void*> weights;
  std::vector<std::vector<uint8_t>> copies;  // of weights that a fault changes
  halogen_kv_geometry geometry;
  uint64_t steps = 0, tokens = 0;
};
struct halogen_kv {
  const halogen_program* program;
  KvCache cache;
  uint32_t blocks;
};

namespace {

halogen::Host host;

const halogen_config_key kFault = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "fault",
    "none",
    "In what way to be wrong.",
    0,
    0,
    "none|linear|rope|window|causal|kv_layout|batch|reads_behind|crash|hang|exit|throws|silent|"
    "stale_kv|rows|newer_host|no_device|no_create",
    false};
const halogen_config_key* const kKeys[] = {&kFault};

halogen_status device_at(uint32_t index, halogen_device* device, halogen_error* error) {
  if (index > 0) return halogen_fail(error, HALOGEN_E_NOT_FOUND, "there is one device");
  device->kind = HALOGEN_DEVICE_OTHER;
  std::strcpy(device->name, "float64 reference");
  device->memory_bytes = device->memory_free_bytes = 1 << 30;
  return HALOGEN_OK;
}

halogen_status create(const halogen_config* config, halogen_backend** backend,
                      halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    const std::string fault(halogen::Config(config).text("fault"));
    if (fault == "no_device") return halogen::failed(error, HALOGEN_E_NOT_FOUND, "no device");
    if (fault == "no_create") return halogen::failed(error, HALOGEN_E_INTERNAL, "not created");
    *backend = new halogen_backend{fault};
    return HALOGEN_OK;
  });
}
void destroy(halogen_backend* backend) {
  delete backend;
}

bool knows_numbers(const halogen_node& node) {
  if (node.op == HALOGEN_OP_NORM) return node.attributes.norm.kind != 0;
  if (node.op == HALOGEN_OP_GLU) return node.attributes.glu.activation <= HALOGEN_SWIGLU_CLAMPED;
  if (node.op == HALOGEN_OP_ACTIVATE) return node.attributes.glu.activation <= HALOGEN_SIGMOID;
  return node.op <= HALOGEN_OP_CONCAT;
}

halogen_status supports(const halogen_backend* backend, const halogen_graph* graph,
                        const halogen_node* node, halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    const bool silent = backend->fault == "silent";
    if (!knows_numbers(*node))
      return halogen_fail(error, HALOGEN_E_UNSUPPORTED, silent ? "" : "no such operator");
    if (auto known = halogen::reference::knows(*graph, *node); !known)
      return halogen_fail(error, HALOGEN_E_UNSUPPORTED,
                          silent ? "" : known.error().message.c_str());
    return HALOGEN_OK;
  });
}

uint64_t block_bytes(const halogen_graph& graph, const halogen_kv_geometry& geometry) {
  uint64_t elements = 0;
  for (uint32_t i = 0; i < graph.n_kv_layers; i++)
    elements += uint64_t{graph.kv_layers[i]->kv_heads} *
                (graph.kv_layers[i]->key_dim + graph.kv_layers[i]->value_dim);
  return elements * geometry.block_tokens * halogen_row_bytes(geometry.key_type, 1);
}

halogen_status memory_need(const halogen_backend*, const halogen_program_request* request,
                           halogen_memory_need* need, halogen_error* error) {
  const halogen_type type = request->geometry->key_type;
  if (type != HALOGEN_F32 && type != HALOGEN_F16)
    return halogen_fail(error, HALOGEN_E_UNSUPPORTED, "K and V are stored as F32 or F16");
  need->program_bytes = 0;
  need->kv_block_bytes = block_bytes(*request->graph, *request->geometry);
  need->state_slot_bytes = 0;
  return HALOGEN_OK;
}

// The faults that lie in the graph or in the weights.
void spoil(halogen_program& program) {
  const std::string& fault = program.backend->fault;
  halogen_graph& table = program.graph->table;
  for (halogen_node& node : program.graph->nodes) {
    if (fault == "rope" && node.op == HALOGEN_OP_ROPE)
      node.attributes.rope.pairing = node.attributes.rope.pairing == HALOGEN_ROPE_HALVES
                                         ? HALOGEN_ROPE_ADJACENT
                                         : HALOGEN_ROPE_HALVES;
    if (fault == "window" && node.op == HALOGEN_OP_ATTEND && node.attributes.attend.window > 0)
      node.attributes.attend.window++;
    if (fault == "causal" && node.op == HALOGEN_OP_ATTEND) node.attributes.attend.causal = 0;
    if (fault != "linear" || node.op != HALOGEN_OP_LINEAR) continue;
    const halogen_value& value = *table.values[node.inputs[1]];
    if (value.type != HALOGEN_Q4_K) continue;
    // A sub-block of the last superblock is taken for another.
    const auto* bytes = static_cast<const uint8_t*>(program.weights[value.source]);
    program.copies.emplace_back(bytes, bytes + table.weights[value.source]->bytes);
    std::vector<uint8_t>& copy = program.copies.back();
    copy[copy.size() - 144 + 4] = static_cast<uint8_t>(copy[copy.size() - 144 + 4] ^ 0x20);
    program.weights[value.source] = copy.data();
  }
}

halogen_status program_create(halogen_backend* backend, const halogen_program_request* request,
                              halogen_program** program, halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    const halogen_graph& graph = *request->graph;
    if (request->geometry->key_type != HALOGEN_F32 && request->geometry->key_type != HALOGEN_F16)
      return halogen_fail(error, HALOGEN_E_UNSUPPORTED, "K and V are floats or halves");
    for (uint32_t i = 0; i < graph.n_nodes; i++)
      if (const halogen_status status = supports(backend, &graph, graph.nodes[i], error);
          status != HALOGEN_OK)
        return status;
    auto made = std::make_unique<halogen_program>();
    for (uint32_t i = 0; i < graph.n_weights; i++) {
      if (request->weights[i].bytes != graph.weights[i]->bytes)
        return halogen_fail(error, HALOGEN_E_INVALID, "a weight has another size");
      made->weights.push_back(request->weights[i].data);
    }
    if (request->progress && !request->progress(request->progress_context, 0.5, "compiling"))
      return halogen_fail(error, HALOGEN_E_CANCELLED, "cancelled");
    made->backend = backend;
    made->graph = std::make_unique<halogen::check::AlteredGraph>(graph);
    made->geometry = *request->geometry;
    spoil(*made);
    *program = made.release();
    return HALOGEN_OK;
  });
}
void program_destroy(halogen_program* program) {
  delete program;
}

halogen_status kv_create(halogen_program* program, uint32_t blocks, halogen_kv** kv,
                         halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    *kv = new halogen_kv{program, KvCache(program->geometry), blocks};
    return HALOGEN_OK;
  });
}
void kv_destroy(halogen_kv* kv) {
  delete kv;
}

halogen_status kv_copy(halogen_kv* kv, const uint32_t* from, const uint32_t* to, uint32_t count,
                       halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    const uint32_t tokens = kv->program->geometry.block_tokens;
    for (uint32_t i = 0; i < count; i++)
      if (from[i] >= kv->blocks || to[i] >= kv->blocks)
        return halogen_fail(error, HALOGEN_E_INVALID, "a block is outside the pool");
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t layer = 0; layer < kv->program->graph->table.n_kv_layers; layer++)
        for (uint32_t t = 0; t < tokens; t++)
          if (const auto* entry = kv->cache.find(layer, from[i] * tokens + t))
            kv->cache.store(layer, to[i] * tokens + t, *entry);
    return HALOGEN_OK;
  });
}

// Walks a block in the canonical layout: visit(layer, position, is_key, element of the entry).
template <typename Visit>
void walk(const halogen_program& program, Visit visit) {
  const halogen_graph& graph = program.graph->table;
  const bool keys_last = program.backend->fault == "kv_layout";
  for (uint32_t layer = 0; layer < graph.n_kv_layers; layer++) {
    const halogen_kv_layer& kv = *graph.kv_layers[layer];
    for (const bool first : {true, false}) {
      const bool is_key = first != keys_last;
      const uint32_t dim = is_key ? kv.key_dim : kv.value_dim;
      for (uint32_t head = 0; head < kv.kv_heads; head++)
        for (uint32_t t = 0; t < program.geometry.block_tokens; t++)
          for (uint32_t d = 0; d < dim; d++) visit(layer, t, is_key, size_t{head} * dim + d);
    }
  }
}

halogen_status check_block(const halogen_kv* kv, uint32_t block, uint64_t bytes,
                           halogen_error* error) {
  if (block < kv->blocks && bytes == block_bytes(kv->program->graph->table, kv->program->geometry))
    return HALOGEN_OK;
  return halogen_fail(error, HALOGEN_E_INVALID, "no whole block of the pool");
}

halogen_status kv_export(const halogen_kv* kv, uint32_t block, void* data, uint64_t bytes,
                         halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    if (const halogen_status status = check_block(kv, block, bytes, error); status != HALOGEN_OK)
      return status;
    auto* out = static_cast<uint8_t*>(data);
    const bool halves = kv->program->geometry.key_type == HALOGEN_F16;
    walk(*kv->program, [&](uint32_t layer, uint32_t t, bool is_key, size_t element) {
      const auto* entry = kv->cache.find(layer, block * kv->program->geometry.block_tokens + t);
      const double value = entry ? (is_key ? entry->key : entry->value).values[element] : 0;
      if (halves) {
        const uint16_t half = halogen::reference::nearest_half(value);
        std::memcpy(out, &half, sizeof half);
        out += sizeof half;
      } else {
        const auto single = static_cast<float>(value);
        std::memcpy(out, &single, sizeof single);
        out += sizeof single;
      }
    });
    return HALOGEN_OK;
  });
}

halogen_status kv_import(halogen_kv* kv, uint32_t block, const void* data, uint64_t bytes,
                         halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    if (const halogen_status status = check_block(kv, block, bytes, error); status != HALOGEN_OK)
      return status;
    const halogen_graph& graph = kv->program->graph->table;
    const uint32_t tokens = kv->program->geometry.block_tokens;
    for (uint32_t layer = 0; layer < graph.n_kv_layers; layer++)
      for (uint32_t t = 0; t < tokens; t++)
        kv->cache.store(
            layer, block * tokens + t,
            {Tensor({graph.kv_layers[layer]->kv_heads, graph.kv_layers[layer]->key_dim}),
             Tensor({graph.kv_layers[layer]->kv_heads, graph.kv_layers[layer]->value_dim})});
    const auto* in = static_cast<const uint8_t*>(data);
    const halogen_type type = kv->program->geometry.key_type;
    walk(*kv->program, [&](uint32_t layer, uint32_t t, bool is_key, size_t element) {
      KvCache::Entry entry = *kv->cache.find(layer, block * tokens + t);
      double value = 0;
      halogen::reference::dequantise(type, in, 1, &value);
      in += halogen_row_bytes(type, 1);
      (is_key ? entry.key : entry.value).values[element] = value;
      kv->cache.store(layer, block * tokens + t, std::move(entry));
    });
    return HALOGEN_OK;
  });
}

// The faults that a step shows at once.
void misbehave(const halogen_program& program) {
  const std::string& fault = program.backend->fault;
  for (const halogen_node& node : program.graph->nodes) {
    const bool l2 = node.op == HALOGEN_OP_NORM && node.attributes.norm.kind == HALOGEN_NORM_L2;
    if (l2 && fault == "crash") std::raise(SIGSEGV);
    if (l2 && fault == "exit") std::exit(3);
    if (l2 && fault == "throws") throw std::runtime_error("thrown on purpose");
    while (l2 && fault == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
    if (fault != "reads_behind" || node.op != HALOGEN_OP_LINEAR) continue;
    const halogen_value& value = *program.graph->table.values[node.inputs[1]];
    if (value.type != HALOGEN_Q8_0) continue;
    const auto* bytes = static_cast<const volatile uint8_t*>(program.weights[value.source]);
    (void)bytes[program.graph->table.weights[value.source]->bytes];
  }
}

void write(const Tensor& tensor, float* out, double factor) {
  for (size_t i = 0; i < tensor.values.size(); i++)
    out[i] = static_cast<float>(tensor.values[i] * factor);
}

halogen_status step_submit(halogen_program* program, halogen_kv* kv, halogen_states*,
                           const halogen_step* step, uint64_t* ticket, halogen_error*) {
  misbehave(*program);
  const std::string& fault = program->backend->fault;
  if (fault == "stale_kv" && program->steps % 2 == 1) kv->cache = KvCache(program->geometry);
  halogen_step seen = *step;
  const std::vector<int32_t> zeros(step->n_rows);
  if (fault == "rows" && step->n_rows > 1) seen.rows = zeros.data();
  const auto outputs = halogen::reference::evaluate(program->graph->table, program->weights, seen,
                                                    kv->cache, Precision::f32);
  double factor = fault == "batch" ? 1 + 2e-7 * step->n_sequences : 1;
  if (fault == "newer_host" && step->struct_size > sizeof *step) factor = 2;
  if (step->logits) write(outputs.logits, step->logits, factor);
  if (step->hidden) write(outputs.hidden, step->hidden, factor);
  program->tokens += step->n_tokens;
  *ticket = ++program->steps;
  return HALOGEN_OK;
}

halogen_status step_wait(halogen_program*, uint64_t, uint64_t, halogen_error*) {
  return HALOGEN_OK;
}

halogen_status option_set(halogen_backend*, const char* key, const char*, halogen_error* error) {
  return halogen::failed(error, HALOGEN_E_NOT_FOUND, std::string("there is no key ") + key);
}

void counters(const halogen_program* program, halogen_counters* counters) {
  counters->bytes = counters->operations = counters->submissions = program->tokens;
  counters->device_seconds = 0;
}

const halogen_backend_factory kFactory = {
    .struct_size = sizeof(halogen_backend_factory),
    .name = "reference",
    .flags = HALOGEN_BACKEND_BATCH_INVARIANT,
    .n_config_keys = std::size(kKeys),
    .config_keys = kKeys,
    .device_at = device_at,
    .create = create,
    .destroy = destroy,
    .supports = supports,
    .region_import = nullptr,
    .region_release = nullptr,
    .memory_need = memory_need,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .kv_create = kv_create,
    .kv_destroy = kv_destroy,
    .states_create = nullptr,
    .states_destroy = nullptr,
    .kv_copy = kv_copy,
    .kv_export = kv_export,
    .kv_import = kv_import,
    .step_submit = step_submit,
    .step_wait = step_wait,
    .option_set = option_set,
    .counters = counters,
};

halogen_status init(halogen_error* /*error*/) {
  return HALOGEN_OK;
}
void deinit() {}

const void* get_factory(const char* kind) {
  return std::strcmp(kind, HALOGEN_BACKEND_KIND) == 0 ? &kFactory : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.example.reference", "Reference backend", "1.0.0", "Apache-2.0", host,
                      init, deinit, get_factory);
