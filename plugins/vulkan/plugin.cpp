// The Vulkan backend's frame: the calls of halogen/backend.h over Backend, Program and KvPool.
#include "halogen/cxx/plugin.hpp"

#include <cstring>
#include <memory>

#include "halogen/backend.h"

#include "plugins/common/check_request.h"
#include "plugins/vulkan/failure.h"
#include "plugins/vulkan/program.h"

using halogen::vulkan::at_boundary;
using halogen::vulkan::Backend;
using halogen::vulkan::KvPool;
using halogen::vulkan::Program;

struct halogen_backend {
  Backend backend;
};
struct halogen_program {
  Program program;
};
struct halogen_kv {
  KvPool pool;
  Program& program;  // whose steps write into the pool
};

namespace {

halogen::Host host;

halogen_status no_range(halogen_error* error, const char* what) {
  return halogen::failed(error, HALOGEN_E_INVALID, what);
}

void put_text(const std::string& text, char* field, size_t size) {
  field[text.copy(field, size - 1)] = '\0';
}

halogen_status device_at(uint32_t index, halogen_device* device, halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    const halogen::vulkan::Instance instance(false);
    const auto adapters = halogen::vulkan::list_adapters(instance);
    if (index >= adapters.size()) {
      return halogen::failed(
          error, HALOGEN_E_NOT_FOUND,
          "Vulkan drivers offer " + std::to_string(adapters.size()) + " devices");
    }
    const halogen::vulkan::Adapter& adapter = adapters[index];
    const auto memory = halogen::vulkan::memory_state(instance, adapter);
    device->kind = adapter.kind;
    put_text(adapter.name, device->name, sizeof device->name);
    put_text(adapter.pci, device->pci, sizeof device->pci);
    device->memory_bytes = memory.total;
    device->memory_free_bytes = memory.free;
    device->unified = adapter.unified;
    device->bandwidth = 0.0;
    return HALOGEN_OK;
  });
}

halogen_status create(const halogen_config* config, halogen_backend** backend,
                      halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    auto made = std::unique_ptr<halogen_backend>(
        new halogen_backend{Backend(host, halogen::vulkan::read_settings(config))});
    const halogen::vulkan::Adapter& adapter = made->backend.adapter();
    host.info("computing on '" + adapter.name + "' with the driver " + adapter.driver);
    if (adapter.kind == HALOGEN_DEVICE_CPU)
      host.warn("'" + adapter.name + "' is no GPU: the cpu backend is faster");
    *backend = made.release();
    return HALOGEN_OK;
  });
}

void destroy(halogen_backend* backend) {
  delete backend;
}

halogen_status supports(const halogen_backend* /*backend*/, const halogen_graph* graph,
                        const halogen_node* node, halogen_error* error) {
  return at_boundary(error, [&] { return halogen::vulkan::check_node(*graph, *node, error); });
}

halogen_status check_request(const halogen_program_request& request, halogen_error* error) {
  if (const halogen_status status = halogen::backends::check_graph(
          *request.graph, request.weights, halogen::vulkan::check_node, error);
      status != HALOGEN_OK) {
    return status;
  }
  return halogen::backends::check_request("Vulkan", request, error);
}

halogen_status memory_need(const halogen_backend* backend, const halogen_program_request* request,
                           halogen_memory_need* need, halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    if (const halogen_status status = check_request(*request, error); status != HALOGEN_OK)
      return status;
    const auto plan = halogen::vulkan::compile_plan(*request, backend->backend.adapter());
    need->program_bytes = Program::device_bytes(plan, *request);
    need->kv_block_bytes = KvPool::block_bytes(*request->graph, *request->geometry);
    need->state_slot_bytes = 0;
    if (HALOGEN_HAS(need, released_weight_bytes)) {
      need->released_weight_bytes = 0;
      for (uint32_t i = 0; i < request->graph->n_weights; i++)
        need->released_weight_bytes += request->graph->weights[i]->bytes;
    }
    return HALOGEN_OK;
  });
}

halogen_status program_create(halogen_backend* backend, const halogen_program_request* request,
                              halogen_program** program, halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    if (const halogen_status status = check_request(*request, error); status != HALOGEN_OK)
      return status;
    *program = new halogen_program{Program(backend->backend, *request)};
    return HALOGEN_OK;
  });
}

void program_destroy(halogen_program* program) {
  delete program;
}

halogen_status kv_create(halogen_program* program, uint32_t blocks, halogen_kv** kv,
                         halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    if (blocks == 0) return no_range(error, "a KV pool of no blocks");
    Program& owner = program->program;
    *kv = new halogen_kv{KvPool(owner.backend().device, owner.backend().transfers, owner.graph(),
                                owner.geometry(), blocks),
                         owner};
    return HALOGEN_OK;
  });
}

void kv_destroy(halogen_kv* kv) {
  kv->program.forget(kv->pool);
  delete kv;
}

halogen_status kv_copy(halogen_kv* kv, const uint32_t* from, const uint32_t* to, uint32_t count,
                       halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    const uint32_t blocks = kv->pool.size().blocks;
    for (uint32_t i = 0; i < count; i++) {
      if (from[i] >= blocks || to[i] >= blocks)
        return no_range(error, "kv_copy names a block outside the pool");
    }
    kv->pool.copy(from, to, count);
    return HALOGEN_OK;
  });
}

bool whole_block(const halogen_kv* kv, uint32_t block, uint64_t bytes) {
  return block < kv->pool.size().blocks && bytes == kv->pool.bytes_per_block();
}

halogen_status kv_export(const halogen_kv* kv, uint32_t block, void* data, uint64_t bytes,
                         halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    if (!whole_block(kv, block, bytes))
      return no_range(error, "kv_export of no whole block of the pool");
    kv->pool.export_block(block, static_cast<uint8_t*>(data));
    return HALOGEN_OK;
  });
}

halogen_status kv_import(halogen_kv* kv, uint32_t block, const void* data, uint64_t bytes,
                         halogen_error* error) {
  return at_boundary(error, [&]() -> halogen_status {
    if (!whole_block(kv, block, bytes))
      return no_range(error, "kv_import of no whole block of the pool");
    kv->pool.import_block(block, static_cast<const uint8_t*>(data));
    return HALOGEN_OK;
  });
}

halogen_status step_submit(halogen_program* program, halogen_kv* kv, halogen_states* /*states*/,
                           const halogen_step* step, uint64_t* ticket, halogen_error* error) {
  return at_boundary(error,
                     [&] { return program->program.submit(kv->pool, *step, ticket, error); });
}

halogen_status step_wait(halogen_program* program, uint64_t ticket, uint64_t timeout_us,
                         halogen_error* error) {
  return at_boundary(error, [&] { return program->program.wait(ticket, timeout_us, error); });
}

halogen_status option_set(halogen_backend* /*backend*/, const char* key, const char* /*value*/,
                          halogen_error* error) {
  return at_boundary(error, [&] {
    return halogen::failed(
        error, HALOGEN_E_UNSUPPORTED,
        std::string("the Vulkan backend cannot change '") + key + "' while serving");
  });
}

void counters(const halogen_program* program, halogen_counters* counters) {
  program->program.counters(counters);
}

const halogen_backend_factory kFactory = {
    .struct_size = sizeof(halogen_backend_factory),
    .name = "vulkan",
    .flags = 0,
    .n_config_keys = halogen::vulkan::kConfigKeyCount,
    .config_keys = halogen::vulkan::kConfigKeys,
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

HALOGEN_DEFINE_PLUGIN("org.halogen.vulkan", "Vulkan backend", "0.1.0", "Apache-2.0", host, init,
                      deinit, get_factory);
