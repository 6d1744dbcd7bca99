#include "core/serve/served_model.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <random>

#include "core/base/call_plugin.h"
#include "core/base/log.h"
#include "core/config/sampling_stages.h"
#include "core/serve/factory_checks.h"
#include "core/serve/memory_hold.h"
#include "core/serve/memory_plan.h"
#include "core/serve/open_model.h"
#include "core/serve/plugin_settings.h"
#include "core/serve/vocabulary_reader.h"

namespace halogen {
namespace {

constexpr const char* kDefaultBackend = "cpu";  // what "auto" means until there are others to weigh

halogen_type cache_element(CacheType type) {
  switch (type) {
    case CacheType::f32:
      return HALOGEN_F32;
    case CacheType::q8_0:
      return HALOGEN_Q8_0;
    case CacheType::q4_0:
      return HALOGEN_Q4_0;
    case CacheType::f16:
    case CacheType::automatic:
      break;
  }
  return HALOGEN_F16;
}

Result<std::optional<std::string>> read_template_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path, ignored) || !file) {
    return fail(HALOGEN_E_IO, "cannot read the chat template " + path);
  }
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(HALOGEN_E_INVALID, "the chat template " + path + " is empty");
  }
  return std::optional<std::string>(std::move(text));
}

// The name that a model goes by when the operator gave none: its file's, without ".gguf" and
// "-00001-of-00003".
std::string name_of(const std::string& path) {
  std::filesystem::path file(path);
  if (!file.has_filename()) file = file.parent_path();
  std::string name = file.stem().string();
  constexpr std::string_view part = "-NNNNN-of-NNNNN";
  if (name.size() <= part.size()) return name;
  const std::string_view end = std::string_view(name).substr(name.size() - part.size());
  const bool is_part = std::equal(end.begin(), end.end(), part.begin(), [](char have, char want) {
    return want == 'N' ? have >= '0' && have <= '9' : have == want;
  });
  if (is_part) name.resize(name.size() - part.size());
  return name;
}

// Loads a plugin and gives its factory.
template <typename Factory>
Result<const Factory*> load_factory(PluginHost& plugins, const char* kind, const std::string& name,
                                    PluginHandle& handle) {
  auto plugin = plugins.load(kind, name);
  if (!plugin) return plugin.error();
  handle = std::move(*plugin);
  const auto* factory = handle->template factory_as<Factory>(kind);
  if (auto whole = check_factory(handle->id(), factory); !whole) return whole.error();
  return factory;
}

// The SDK's levels are those of the log, debug being the lowest.
void log_engine(halogen_log_level level, const std::string& message) {
  const LogLevel levels[] = {LogLevel::debug, LogLevel::debug, LogLevel::info, LogLevel::warning,
                             LogLevel::error};
  log_line(levels[level], "engine", message);
}

// The cached blocks of one loaded model are no other's, and nobody can tell which prompts' hashes
// would collide.
uint64_t random_identity() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// "330 MiB of weights in 0.052 s, 6.7 GB/s".
std::string weights_read(uint64_t bytes, double seconds) {
  char text[96];
  std::snprintf(text, sizeof text, "%llu MiB of weights in %.3f s, %.1f GB/s",
                static_cast<unsigned long long>(bytes >> 20), seconds,
                static_cast<double>(bytes) / std::max(seconds, 1e-6) * 1e-9);
  return text;
}

// Bytes per second: what the operator says, else what the backend knows of its first device.
double memory_bandwidth(const MemoryProfile& memory, const halogen_backend_factory& backend) {
  if (memory.bandwidth.amount() > 0) return static_cast<double>(memory.bandwidth.amount());
  halogen_device device{};
  device.struct_size = sizeof device;
  halogen_error ignored{sizeof(halogen_error), HALOGEN_OK, ""};
  return backend.device_at(0, &device, &ignored) == HALOGEN_OK ? device.bandwidth : 0.0;
}

bool report_program(void* context, double fraction, const char* what) {
  const auto& progress = *static_cast<const ServeProgress*>(context);
  return !progress || progress(what, fraction);
}

void release_weight(void* context, uint32_t weight) {
  static_cast<WeightStore*>(context)->release(weight);
}

// A request for the whole model, with what it points to.
struct ProgramRequest {
  ProgramRequest(const halogen_graph& graph, const halogen_kv_geometry& geometry,
                 const EngineLimits& engine)
      : limits{sizeof(halogen_limits), engine.max_batch_tokens, engine.max_sequences,
               engine.max_sequences, engine.max_context} {
    table.struct_size = sizeof table;
    table.graph = &graph;
    table.geometry = &geometry;
    table.limits = &limits;
    table.shard = &whole;
  }
  ProgramRequest(const ProgramRequest&) = delete;
  ProgramRequest& operator=(const ProgramRequest&) = delete;

  const halogen_limits limits;
  const halogen_shard whole{sizeof(halogen_shard), 0, 1, nullptr};
  halogen_program_request table{};
};

// All but the sequence breakers.
SamplingOptions sampling_of(const SamplingProfile& sampling) {
  SamplingOptions options;
  options.temperature = static_cast<float>(sampling.temperature);
  options.dynatemp_range = static_cast<float>(sampling.dynatemp_range);
  options.dynatemp_exponent = static_cast<float>(sampling.dynatemp_exponent);
  options.top_k = std::max(sampling.top_k, 0);
  options.top_p = static_cast<float>(sampling.top_p);
  options.min_p = static_cast<float>(sampling.min_p);
  options.repetition_penalty = static_cast<float>(sampling.repeat_penalty);
  options.presence_penalty = static_cast<float>(sampling.presence_penalty);
  options.frequency_penalty = static_cast<float>(sampling.frequency_penalty);
  options.penalty_window = sampling.repeat_last_n;
  options.typical_p = static_cast<float>(sampling.typical_p);
  options.top_n_sigma = static_cast<float>(sampling.top_n_sigma);
  options.xtc_probability = static_cast<float>(sampling.xtc_probability);
  options.xtc_threshold = static_cast<float>(sampling.xtc_threshold);
  options.dry_multiplier = static_cast<float>(sampling.dry_multiplier);
  options.dry_base = static_cast<float>(sampling.dry_base);
  options.dry_allowed_length = sampling.dry_allowed_length;
  options.dry_penalty_last_n = sampling.dry_penalty_last_n;
  options.mirostat = sampling.mirostat;
  options.mirostat_tau = static_cast<float>(sampling.mirostat_tau);
  options.mirostat_eta = static_cast<float>(sampling.mirostat_eta);
  // The names were checked with the profile.
  if (auto stages = sampling_stages(sampling.samplers)) options.stages = std::move(*stages);
  return options;
}

}  // namespace

Result<std::unique_ptr<ServedModel>> ServedModel::load(const Profile& profile, PluginHost& plugins,
                                                       const ServeProgress& progress) {
  std::unique_ptr<ServedModel> model(new ServedModel());
  model->parts_.log = log_engine;
  model->parts_.model_identity = random_identity();
  Status status = prepare_memory(profile.memory);
  if (!status) return within(profile.origin("memory.huge_pages"), status.error());
  status = model->open_file(profile, plugins);
  if (status) status = model->build_graph();
  if (!status) return status.error();

  // A vocabulary takes processors and weights take memory and the disk, so they go side by side.
  // What is wrong with the text ends the loading of the weights, and is what is reported then.
  std::atomic<bool> text_failed{false};
  std::future<Status> text = std::async(std::launch::async, [&] {
    Status read = model->read_vocabulary_and_template(profile);
    if (read) read = model->read_default_sampling(profile);
    text_failed = !read;
    return read;
  });
  const ServeProgress both = [&](const char* stage, double fraction) {
    return !text_failed && (!progress || progress(stage, fraction));
  };
  status = model->choose_backend(profile, plugins);
  if (status) status = model->make_program(profile, both);
  if (status) status = model->make_host_tier();
  if (status) status = model->make_sampler(profile, plugins);
  if (status) status = model->make_scheduler(profile, plugins);
  if (Status read = text.get(); !read) return read.error();
  if (!status) return status.error();
  if (Status held = hold_memory(profile.memory); !held)
    return within(profile.origin("memory.lock"), held.error());
  return model;
}

Result<ModelNeeds> ServedModel::examine(const Profile& profile, PluginHost& plugins) {
  ServedModel model;
  Status status = model.open_file(profile, plugins);
  if (status) status = model.build_graph();
  if (status) status = model.choose_backend(profile, plugins);
  if (!status) return status.error();
  model.set_limits(profile);
  auto memory = model.memory_inputs(profile);
  if (!memory) return memory.error();
  return ModelNeeds{model.hyperparameters(),
                    std::move(model.model_graph_->graph),
                    model.limits_,
                    model.geometry_,
                    *memory,
                    model.parts_.backend->name};
}

ServedModel::~ServedModel() {
  if (parts_.scheduler_instance) parts_.scheduler->destroy(parts_.scheduler_instance);
  if (parts_.sampler_instance) parts_.sampler->destroy(parts_.sampler_instance);
  if (parts_.kv) parts_.backend->kv_destroy(parts_.kv);
  if (parts_.program) parts_.backend->program_destroy(parts_.program);
  if (backend_instance_) parts_.backend->destroy(backend_instance_);
}

Status ServedModel::open_file(const Profile& profile, PluginHost& plugins) {
  auto opened = open_model(profile, plugins);
  if (!opened) return opened.error();
  loader_plugin_ = std::move(opened->loader);
  file_.emplace(std::move(opened->model));

  names_ = profile.model.served_model_names;
  if (names_.empty()) names_.push_back(name_of(profile.model.path));
  return {};
}

Status ServedModel::build_graph() {
  auto built = build_model_graph(*file_);
  if (!built) return built.error();
  model_graph_.emplace(std::move(*built));
  if (!model_graph_->unused.empty()) {
    log_warning("loader", file_->path() + ": " + std::to_string(model_graph_->unused.size()) +
                              " tensors are not used by this architecture, the first being '" +
                              model_graph_->unused.front() + "'");
  }
  return {};
}

Status ServedModel::read_vocabulary_and_template(const Profile& profile) {
  auto vocabulary = read_vocabulary(*file_);
  if (!vocabulary) return vocabulary.error();
  if (vocabulary->tokens.size() > hyperparameters().vocabulary_size) {
    return fail(HALOGEN_E_INVALID, file_->path() + ": the vocabulary has " +
                                       std::to_string(vocabulary->tokens.size()) +
                                       " tokens, but the model only " +
                                       std::to_string(hyperparameters().vocabulary_size));
  }
  auto tokenizer = text::Tokenizer::create(std::move(*vocabulary));
  if (!tokenizer) return within(file_->path(), tokenizer.error());
  tokenizer_ = std::move(*tokenizer);
  token_search_.emplace(*tokenizer_);
  parts_.tokenizer = tokenizer_.get();

  return read_chat_template(profile);
}

// A template that the operator named must work; one that came with the model may be beyond us, and
// then only chat is refused.
Status ServedModel::read_chat_template(const Profile& profile) {
  const std::string& path = profile.model.chat_template;
  auto source = path.empty() ? file_->text("halogen.chat_template") : read_template_file(path);
  if (!source)
    return path.empty() ? source.error()
                        : within(profile.origin("model.chat_template"), source.error());
  if (!source->has_value()) return {};
  auto parsed = ChatTemplate::parse(std::move(**source));
  if (parsed) {
    chat_template_.emplace(std::move(*parsed));
    return {};
  }
  if (!path.empty()) return within(path, parsed.error());
  chat_template_error_ = parsed.error().message;
  log_warning("loader",
              file_->path() +
                  ": its chat template cannot be used, so that only /v1/completions works: " +
                  chat_template_error_);
  return {};
}

Status ServedModel::choose_backend(const Profile& profile, PluginHost& plugins) {
  const std::string name = profile.backend.name == "auto" ? kDefaultBackend : profile.backend.name;
  auto factory =
      load_factory<halogen_backend_factory>(plugins, HALOGEN_BACKEND_KIND, name, backend_plugin_);
  if (!factory) return factory.error();
  parts_.backend = *factory;
  auto settings = backend_settings(profile, *parts_.backend);
  if (!settings) return settings.error();
  if (const Status status = call_plugin([&](halogen_error* error) {
        return parts_.backend->create(settings->config(), &backend_instance_, error);
      });
      !status) {
    return within("backend '" + name + "'", status.error());
  }
  const halogen_graph& graph = model_graph_->graph.table();
  if (graph.n_state_layers > 0 && !parts_.backend->states_create) {
    return fail(HALOGEN_E_UNSUPPORTED, file_->path() + ": the backend '" + name +
                                           "' has no recurrent state, which this model needs");
  }
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const Status status = call_plugin([&](halogen_error* error) {
      return parts_.backend->supports(backend_instance_, &graph, graph.nodes[i], error);
    });
    if (!status) return within(file_->path(), status.error());
  }
  return {};
}

Status ServedModel::change_attention(const AttentionProfile& attention) {
  for (const auto& [key, value] : attention_settings(attention)) {
    const Status status = call_plugin([&](halogen_error* error) {
      return parts_.backend->option_set(backend_instance_, key.c_str(), value.c_str(), error);
    });
    if (!status) return status;
  }
  return {};
}

void ServedModel::set_limits(const Profile& profile) {
  const Hyperparameters& h = hyperparameters();
  const EngineProfile& engine = profile.engine;
  limits_.vocabulary_size = h.vocabulary_size;
  limits_.block_tokens = profile.kv.block_tokens;
  limits_.max_context = engine.context != 0 ? engine.context : h.context_length;
  if (limits_.max_context > h.context_length) {
    log_warning("loader", "a context of " + std::to_string(limits_.max_context) +
                              " tokens is longer than the " + std::to_string(h.context_length) +
                              " that the model was trained for");
  }
  limits_.max_sequences = engine.max_concurrent_requests;
  limits_.max_batch_tokens = std::max(engine.tokens_per_step(), limits_.max_sequences);
  limits_.prefill_batch_tokens = engine.prefill_tokens_per_step();
  limits_.queue_limit = engine.queue_limit;
  limits_.target_token_interval_us =
      1000 * static_cast<uint64_t>(engine.target_token_interval.count());
  limits_.prefix_cache = profile.kv.prefix_cache;
  limits_.bandwidth = memory_bandwidth(profile.memory, *parts_.backend);
  geometry_ = {sizeof(halogen_kv_geometry), profile.kv.block_tokens,
               cache_element(profile.kv.key_type()), cache_element(profile.kv.value_type())};
}

Result<MemoryInputs> ServedModel::memory_inputs(const Profile& profile) const {
  const ProgramRequest request(model_graph_->graph.table(), geometry_, limits_);
  halogen_memory_need need{};
  need.struct_size = sizeof need;
  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.backend->memory_need(backend_instance_, &request.table, &need, error);
  });
  if (!status) return status.error();
  const halogen_graph& graph = model_graph_->graph.table();
  MemoryInputs memory;
  memory.pool_size = profile.kv.pool_size;
  memory.host_pool_bytes = profile.kv.host_pool_size.amount();
  memory.machine_bytes = usable_memory_bytes();
  for (uint32_t i = 0; i < graph.n_weights; i++) memory.weight_bytes += graph.weights[i]->bytes;
  memory.program_bytes = need.program_bytes;
  memory.placement = placement(profile.memory.weights, need.released_weight_bytes > 0);
  // The pages of a mapped file go as their copies come.
  if (memory.placement == WeightPlacement::mapped)
    memory.program_bytes -= std::min(need.released_weight_bytes, memory.program_bytes);
  memory.block_bytes = need.kv_block_bytes;
  memory.block_tokens = geometry_.block_tokens;
  memory.context = limits_.max_context;
  memory.max_sequences = limits_.max_sequences;
  return memory;
}

Result<WeightPlacement> ServedModel::plan_memory(const Profile& profile) {
  auto memory = memory_inputs(profile);
  if (!memory) return memory.error();
  auto host_blocks = plan_host_blocks(*memory);
  if (!host_blocks) return within(file_->path(), host_blocks.error());
  auto blocks = plan_kv_blocks(*memory);
  if (!blocks) return within(file_->path(), blocks.error());
  limits_.total_blocks = *blocks;
  limits_.host_blocks = *host_blocks;
  limits_.block_bytes = memory->block_bytes;
  return memory->placement;
}

// Where nothing is asked for: mapped for a backend that makes a copy; otherwise resident, because a
// step reads all weights, and on huge pages it does so in less time.
WeightPlacement ServedModel::placement(WeightMemory asked, bool backend_copies) const {
  const bool reads_files = (parts_.backend->flags & HALOGEN_BACKEND_READS_MAPPED_FILES) != 0;
  if (asked == WeightMemory::automatic && backend_copies && reads_files)
    return WeightPlacement::mapped;
  if (asked != WeightMemory::mapped) return WeightPlacement::resident;
  if (reads_files) return WeightPlacement::mapped;
  log_warning("loader", std::string("the backend '") + parts_.backend->name +
                            "' cannot read mapped files; the weights are resident");
  return WeightPlacement::resident;
}

Result<std::vector<halogen_weight_data>> ServedModel::read_weights(WeightPlacement placement,
                                                                   const ServeProgress& progress) {
  const auto started = std::chrono::steady_clock::now();
  auto store = WeightStore::load(
      *file_, model_graph_->tensors, placement, [&progress](uint64_t done, uint64_t total) {
        return !progress ||
               progress("reading weights", static_cast<double>(done) / static_cast<double>(total));
      });
  if (!store) return store.error();
  weights_.emplace(std::move(*store));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  log_info("loader", weights_read(weights_->total_bytes(), seconds.count()));
  const halogen_graph& graph = model_graph_->graph.table();
  std::vector<halogen_weight_data> data;
  data.reserve(graph.n_weights);
  for (uint32_t i = 0; i < graph.n_weights; i++) {
    data.push_back({weights_->data(i), graph.weights[i]->bytes, nullptr});
  }
  return data;
}

Status ServedModel::make_program(const Profile& profile, const ServeProgress& progress) {
  set_limits(profile);
  // The memory is counted before a byte of it is taken.
  auto placement = plan_memory(profile);
  if (!placement) return placement.error();
  ProgramRequest request(model_graph_->graph.table(), geometry_, limits_);
  request.table.progress = report_program;
  request.table.progress_context = const_cast<ServeProgress*>(&progress);
  auto weights = read_weights(*placement, progress);
  if (!weights) return weights.error();
  request.table.weights = weights->data();
  request.table.weight_release = release_weight;
  request.table.weight_context = &*weights_;
  if (progress && !progress("making the program", 0.0))
    return fail(HALOGEN_E_CANCELLED, "loading was cancelled");
  if (Status made = call_plugin([&](halogen_error* error) {
        return parts_.backend->program_create(backend_instance_, &request.table, &parts_.program,
                                              error);
      });
      !made) {
    return made;
  }
  if (progress && !progress("taking memory for the KV pool", 0.0))
    return fail(HALOGEN_E_CANCELLED, "loading was cancelled");
  return call_plugin([&](halogen_error* error) {
    return parts_.backend->kv_create(parts_.program, limits_.total_blocks, &parts_.kv, error);
  });
}

Status ServedModel::make_host_tier() {
  if (limits_.host_blocks == 0) return {};
  auto arena = HostArena::create(limits_.host_blocks * limits_.block_bytes);
  if (!arena) return arena.error();
  host_arena_.emplace(std::move(*arena));
  parts_.host_memory = host_arena_->data();
  return {};
}

Status ServedModel::read_default_sampling(const Profile& profile) {
  sampling_ = sampling_of(profile.sampling);
  auto breakers = token_search_->sequences(profile.sampling.dry_sequence_breakers);
  if (!breakers) {
    const std::string key = "sampling.dry_sequence_breakers";
    return within(key + " (" + std::string(profile.origin(key)) + ")", breakers.error());
  }
  sampling_.dry_breakers = std::move(*breakers);
  return {};
}

Status ServedModel::make_sampler(const Profile& profile, PluginHost& plugins) {
  auto factory = load_factory<halogen_sampler_factory>(plugins, HALOGEN_SAMPLER_KIND,
                                                       profile.sampler, sampler_plugin_);
  if (!factory) return factory.error();
  parts_.sampler = *factory;
  auto settings = plugin_settings(profile, "sampler", parts_.sampler->name,
                                  {parts_.sampler->config_keys, parts_.sampler->n_config_keys});
  if (!settings) return settings.error();
  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.sampler->create(settings->config(), limits_.vocabulary_size,
                                  &parts_.sampler_instance, error);
  });
  if (!status) return within("sampler '" + profile.sampler + "'", status.error());
  return {};
}

Status ServedModel::make_scheduler(const Profile& profile, PluginHost& plugins) {
  auto factory = load_factory<halogen_scheduler_factory>(plugins, HALOGEN_SCHEDULER_KIND,
                                                         profile.scheduler, scheduler_plugin_);
  if (!factory) return factory.error();
  parts_.scheduler = *factory;
  auto settings = plugin_settings(profile, "scheduler", parts_.scheduler->name,
                                  {parts_.scheduler->config_keys, parts_.scheduler->n_config_keys});
  if (!settings) return settings.error();
  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.scheduler->create(settings->config(), &parts_.scheduler_instance, error);
  });
  if (!status) return within("scheduler '" + profile.scheduler + "'", status.error());
  return {};
}

Ledger ServedModel::ledger() const {
  return {model_graph_->graph.table(), geometry_.key_type, geometry_.value_type};
}

std::string ServedModel::describe() const {
  const Hyperparameters& h = hyperparameters();
  return h.architecture + " with " + std::to_string(h.layers) + " layers, " +
         std::to_string(weights_->total_bytes() >> 20) + " MiB of weights, context " +
         std::to_string(limits_.max_context) + ", " + std::to_string(limits_.total_blocks) +
         " KV blocks of " + std::to_string(limits_.block_tokens) + " tokens" +
         (limits_.host_blocks > 0
              ? " and " + std::to_string(limits_.host_blocks) + " in the second tier"
              : "") +
         ", on the " + parts_.backend->name + " backend";
}

}  // namespace halogen
