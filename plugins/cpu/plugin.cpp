// The CPU backend's frame: the calls of halogen/backend.h over Program, KvPool and ThreadTeam.
#include "halogen/cxx/plugin.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <iterator>

#include "halogen/backend.h"

#include "plugins/common/check_request.h"
#include "plugins/cpu/devices.h"
#include "plugins/cpu/kernels/cpu_features.h"
#include "plugins/cpu/program.h"

using halogen::cpu::AttentionChoice;
using halogen::cpu::KvPool;
using halogen::cpu::Program;
using halogen::cpu::Settings;
using halogen::cpu::ThreadTeam;

struct halogen_backend {
  AttentionChoice attention;
  Settings settings;
  std::unique_ptr<ThreadTeam> team;
};
struct halogen_program {
  std::unique_ptr<Program> program;
  ThreadTeam& team;
};
struct halogen_kv {
  KvPool pool;
  ThreadTeam& team;  // whose steps write into the pool
};

namespace {

halogen::Host host;

const halogen_config_key kThreads = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_INT,
    "threads",
    "0",
    "Compute threads; 0: one for each processor the server may use.",
    0,
    1024,
    nullptr,
    false};
const halogen_config_key kExact = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_BOOL,
    "exact",
    "false",
    "Keep activations in 32 bits instead of rounding them to 8 for quantised weights; slower.",
    0,
    0,
    nullptr,
    false};
const halogen_config_key kInstructions = {sizeof(halogen_config_key),
                                          HALOGEN_CONFIG_STRING,
                                          "instructions",
                                          "auto",
                                          "Kernel set; auto takes the best that the processor has.",
                                          0,
                                          0,
                                          "auto|portable|avx2|avx512",
                                          false};
const halogen_config_key kFlash = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "flash",
    "auto",
    "Flash attention: auto from flash_threshold on, on always, off never.",
    0,
    0,
    "auto|on|off",
    true};
const halogen_config_key kFlashThreshold = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_INT,
    "flash_threshold",
    "512",
    "Positions that a token attends to from which auto takes flash attention.",
    0,
    1 << 24,
    nullptr,
    true};
const halogen_config_key kWeightCopy = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "weight_copy",
    "behind",
    "Copy of the weights on huge pages, in the order in which the kernels read them: behind makes "
    "it while requests are served already, first before that, off never.",
    0,
    0,
    "behind|first|off",
    false};
const halogen_config_key* const kConfigKeys[] = {&kThreads, &kExact,          &kInstructions,
                                                 &kFlash,   &kFlashThreshold, &kWeightCopy};

halogen_status no_range(halogen_error* error, const char* what) {
  return halogen::failed(error, HALOGEN_E_INVALID, what);
}

bool choose_kernels(const std::string& name, Settings& settings) {
  using halogen::cpu::InstructionSet;
  InstructionSet set = halogen::cpu::best_instruction_set();
  if (name == "portable") set = InstructionSet::kPortable;
  if (name == "avx2") set = InstructionSet::kAvx2;
  if (name == "avx512") set = InstructionSet::kAvx512;
  if (!halogen::cpu::available(set)) return false;
  settings.kernels = &halogen::cpu::kernels(set);
  return true;
}

// False: not one of the choices.
bool choose_flash(const std::string& name, AttentionChoice& attention) {
  using Mode = AttentionChoice::Mode;
  for (const auto& [known, mode] : {std::pair("auto", Mode::automatic),
                                    std::pair("on", Mode::flash), std::pair("off", Mode::plain)}) {
    if (name == known) {
      attention.mode.store(mode, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

using halogen::cpu::WeightCopy;

WeightCopy weight_copy(const std::string& name) {
  return name == "off" ? WeightCopy::off : name == "first" ? WeightCopy::first : WeightCopy::behind;
}

halogen_status device_at(uint32_t index, halogen_device* device, halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    if (index > 0) return halogen::failed(error, HALOGEN_E_NOT_FOUND, "there is one CPU");
    halogen::cpu::describe_cpu(device);
    return HALOGEN_OK;
  });
}

halogen_status create(const halogen_config* config, halogen_backend** backend,
                      halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    const halogen::Config read(config);
    auto made = std::make_unique<halogen_backend>();
    made->settings.exact = read.boolean("exact");
    made->settings.attention = &made->attention;
    made->settings.weight_copy = weight_copy(read.text("weight_copy"));
    choose_flash(read.text("flash"), made->attention);
    made->attention.threshold = static_cast<uint32_t>(read.integer("flash_threshold"));
    const std::string instructions = read.text("instructions");
    if (!choose_kernels(instructions, made->settings)) {
      return halogen::failed(error, HALOGEN_E_UNSUPPORTED,
                             std::string(read.where("instructions")) + ": this processor has no " +
                                 instructions + "; use instructions = \"auto\"");
    }
    const auto wanted = static_cast<unsigned>(read.integer("threads"));
    made->team = ThreadTeam::start(host.table(),
                                   wanted != 0 ? wanted : halogen::cpu::usable_processors(), error);
    if (!made->team) return error ? error->status : HALOGEN_E_INTERNAL;
    made->settings.members = made->team->size();
    host.info("computing on " + std::to_string(made->team->size()) + " threads with the " +
              made->settings.kernels->name + " kernels");
    *backend = made.release();
    return HALOGEN_OK;
  });
}

void destroy(halogen_backend* backend) {
  delete backend;
}

halogen_status supports(const halogen_backend* /*backend*/, const halogen_graph* graph,
                        const halogen_node* node, halogen_error* error) {
  return halogen::guarded(error, [&] { return halogen::cpu::check_node(*graph, *node, error); });
}

halogen_status memory_need(const halogen_backend* backend, const halogen_program_request* request,
                           halogen_memory_need* need, halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    if (const halogen_status status = halogen::backends::check_request("CPU", *request, error);
        status != HALOGEN_OK)
      return status;
    halogen::cpu::Plan plan;
    const halogen::cpu::WeightCopies copies(*request->graph, nullptr, backend->settings);
    const halogen_status status = halogen::cpu::compile_plan(
        *request->graph, nullptr, copies, *request->limits, backend->settings, plan, error);
    if (status != HALOGEN_OK) return status;
    need->program_bytes = plan.working_bytes(backend->team->size());
    if (backend->settings.weight_copy != WeightCopy::off) {
      need->program_bytes += copies.bytes();
      if (HALOGEN_HAS(need, released_weight_bytes))
        need->released_weight_bytes = copies.original_bytes();
    }
    need->kv_block_bytes = KvPool::block_bytes(*request->graph, *request->geometry);
    need->state_slot_bytes = 0;
    return HALOGEN_OK;
  });
}

halogen_status program_create(halogen_backend* backend, const halogen_program_request* request,
                              halogen_program** program, halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    if (const halogen_status status = halogen::backends::check_request("CPU", *request, error);
        status != HALOGEN_OK)
      return status;
    halogen_error reason{sizeof(halogen_error), HALOGEN_E_INTERNAL, ""};
    auto made = Program::create(host.table(), *backend->team, backend->settings, *request, &reason);
    if (!made) return halogen::failed(error, reason.status, reason.message);
    *program = new halogen_program{std::move(made), *backend->team};
    return HALOGEN_OK;
  });
}

void program_destroy(halogen_program* program) {
  delete program;
}

halogen_status kv_create(halogen_program* program, uint32_t blocks, halogen_kv** kv,
                         halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    if (blocks == 0) return no_range(error, "a KV pool of no blocks");
    // Not the program's own team: steps of another pool may be running on it.
    const auto helpers = ThreadTeam::start(host.table(), program->team.size(), error);
    if (!helpers) return error ? error->status : HALOGEN_E_INTERNAL;
    auto made = std::make_unique<halogen_kv>(halogen_kv{
        KvPool(program->program->graph(), program->program->geometry(), blocks, helpers.get()),
        program->team});
    if (!made->pool.allocated()) {
      return halogen::failed(
          error, HALOGEN_E_NO_MEMORY,
          "no memory for " + std::to_string(blocks) + " KV blocks; set a smaller pool_size");
    }
    *kv = made.release();
    return HALOGEN_OK;
  });
}

void kv_destroy(halogen_kv* kv) {
  kv->team.drain();
  delete kv;
}

halogen_status kv_copy(halogen_kv* kv, const uint32_t* from, const uint32_t* to, uint32_t count,
                       halogen_error* error) {
  for (uint32_t i = 0; i < count; i++) {
    if (from[i] >= kv->pool.blocks() || to[i] >= kv->pool.blocks()) {
      return no_range(error, "kv_copy names a block outside the pool");
    }
  }
  for (uint32_t i = 0; i < count; i++) kv->pool.copy(from[i], to[i]);
  return HALOGEN_OK;
}

bool whole_block(const halogen_kv* kv, uint32_t block, uint64_t bytes) {
  return block < kv->pool.blocks() && bytes == kv->pool.bytes_per_block();
}

halogen_status kv_export(const halogen_kv* kv, uint32_t block, void* data, uint64_t bytes,
                         halogen_error* error) {
  if (!whole_block(kv, block, bytes))
    return no_range(error, "kv_export of no whole block of the pool");
  kv->pool.export_block(block, static_cast<uint8_t*>(data));
  return HALOGEN_OK;
}

halogen_status kv_import(halogen_kv* kv, uint32_t block, const void* data, uint64_t bytes,
                         halogen_error* error) {
  if (!whole_block(kv, block, bytes))
    return no_range(error, "kv_import of no whole block of the pool");
  kv->pool.import_block(block, static_cast<const uint8_t*>(data));
  return HALOGEN_OK;
}

halogen_status step_submit(halogen_program* program, halogen_kv* kv, halogen_states* /*states*/,
                           const halogen_step* step, uint64_t* ticket, halogen_error* error) {
  return halogen::guarded(error,
                          [&] { return program->program->submit(kv->pool, *step, ticket, error); });
}

halogen_status step_wait(halogen_program* program, uint64_t ticket, uint64_t timeout_us,
                         halogen_error* error) {
  return halogen::guarded(error, [&] { return program->program->wait(ticket, timeout_us, error); });
}

halogen_status bad_value(halogen_error* error, const halogen_config_key& key, const char* value,
                         const std::string& wanted) {
  return halogen::failed(error, HALOGEN_E_INVALID,
                         std::string(key.name) + " cannot be '" + value + "'; it is " + wanted);
}

// Steps that are submitted later follow the new value.
halogen_status option_set(halogen_backend* backend, const char* key, const char* value,
                          halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    if (std::strcmp(key, kFlash.name) == 0) {
      if (choose_flash(value, backend->attention)) return HALOGEN_OK;
      return bad_value(error, kFlash, value, "auto, on or off");
    }
    if (std::strcmp(key, kFlashThreshold.name) == 0) {
      uint32_t threshold = 0;
      const char* end = value + std::strlen(value);
      const auto [stop, failure] = std::from_chars(value, end, threshold);
      if (failure != std::errc() || stop != end || threshold > kFlashThreshold.maximum) {
        return bad_value(error, kFlashThreshold, value, "a whole number from 0 to 16777216");
      }
      backend->attention.threshold.store(threshold, std::memory_order_relaxed);
      return HALOGEN_OK;
    }
    return halogen::failed(
        error, HALOGEN_E_UNSUPPORTED,
        std::string("the CPU backend cannot change '") + key + "' while serving");
  });
}

void counters(const halogen_program* program, halogen_counters* counters) {
  program->program->counters(counters);
}

const halogen_backend_factory kFactory = {
    .struct_size = sizeof(halogen_backend_factory),
    .name = "cpu",
    .flags = HALOGEN_BACKEND_BATCH_INVARIANT | HALOGEN_BACKEND_READS_MAPPED_FILES,
    .n_config_keys = std::size(kConfigKeys),
    .config_keys = kConfigKeys,
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

HALOGEN_DEFINE_PLUGIN("org.halogen.cpu", "CPU backend", "0.1.0", "Apache-2.0", host, init, deinit,
                      get_factory);
