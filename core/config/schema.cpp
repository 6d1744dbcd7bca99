#include "core/config/schema.h"

#include <array>
#include <vector>

#include "core/config/sampling_settings.h"

namespace halogen {
namespace {

constexpr std::array kSections = {
    Section{"server", "HTTP server", "Where the API is served, and the limits of a connection."},
    Section{"model", "Model", "What is served, and under which name."},
    Section{
        "engine", "Requests and batches",
        "How much is computed together. A step computes the next token of every running request "
        "and, with what is left of its tokens, a part of the prompts that wait."},
    Section{"kv", "KV cache", "The memory of attention: one pool, taken at the start."},
    Section{"attention", "Attention", "Which of a backend's attention routes is used."},
    Section{"backend", "Backend",
            "What computes. A table [backend.NAME] holds the settings of the backend NAME."},
    Section{"sampler", "Sampler", "Which plugin picks tokens; [sampler.NAME] holds its settings."},
    Section{"scheduler", "Scheduler",
            "Which plugin decides what runs in a step; [scheduler.NAME] holds its settings."},
    Section{"sampling", "Sampling defaults",
            "What a request gets where it does not say otherwise."},
    Section{"log", "Log", "What is written to standard error."},
    Section{"metrics", "Metrics", "Figures for Prometheus."},
    Section{"plugins", "Plugins", "Where plugins are looked for."},
    Section{"memory", "Memory", "How the process holds its memory."},
};

constexpr double kMostCount = 1 << 20;
constexpr double kMostTokens = 1 << 24;
constexpr double kMiB = 1 << 20;
constexpr double kPiB = kMiB * (1 << 30);
constexpr double kDay = 24.0 * 60 * 60 * 1000;

template <typename Enum>
constexpr std::int64_t number(Enum value) {
  return static_cast<std::int64_t>(value);
}

void add_server(std::vector<Setting>& list) {
  list.push_back({.key = "server.host",
                  .flags = {"--host"},
                  .value_name = "ADDRESS",
                  .help = "Address to listen on; 0.0.0.0 serves the whole network.",
                  .change = Change::restart,
                  .member = member([](auto& p) -> auto& { return p.server.host; })});
  list.push_back({.key = "server.port",
                  .flags = {"--port"},
                  .value_name = "PORT",
                  .help = "Port to listen on; 0 takes a free one and logs it.",
                  .change = Change::restart,
                  .member = member([](auto& p) -> auto& { return p.server.port; }),
                  .least = 0,
                  .most = 65535});
  list.push_back({.key = "server.api_keys",
                  .flags = {"--api-key"},
                  .value_name = "KEY",
                  .help =
                      "Keys of which a client must send one, as its bearer token or in the header "
                      "x-api-key; none: every client is served. A flag can be read in the list of "
                      "processes, so prefer a file or the environment.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.server.api_keys; }),
                  .environment = "HALOGEN_API_KEYS",
                  .secret = true});
  list.push_back(
      {.key = "server.api_key_file",
       .flags = {"--api-key-file"},
       .value_name = "FILE",
       .help = "File with further keys, one a line; lines that begin with # are passed over.",
       .change = Change::live,
       .member = member([](auto& p) -> auto& { return p.server.api_key_file; })});
  list.push_back({.key = "server.max_connections",
                  .flags = {"--max-connections"},
                  .value_name = "N",
                  .help =
                      "Most connections open at once. Further ones take the place of one that is "
                      "idle, or are answered 503.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.server.max_connections; }),
                  .least = 1,
                  .most = kMostCount});
  list.push_back({.key = "server.header_limit",
                  .flags = {"--header-limit"},
                  .value_name = "SIZE",
                  .help =
                      "Most bytes of a request's first line and headers; more are answered with "
                      "status 431.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.server.header_limit; }),
                  .least = 1024,
                  .most = 1 << 30});
  list.push_back({.key = "server.body_limit",
                  .flags = {"--body-limit"},
                  .value_name = "SIZE",
                  .help = "Largest request body; a larger one is answered with status 413.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.server.body_limit; }),
                  .least = 1024,
                  .most = 1 << 30});
  const auto add_timeout = [&](std::string_view key, std::string_view flag, std::string_view help,
                               Member bound) {
    list.push_back({.key = key,
                    .flags = {flag},
                    .value_name = "TIME",
                    .help = help,
                    .change = Change::live,
                    .member = bound,
                    .least = 100,
                    .most = kDay});
  };
  add_timeout("server.header_timeout", "--header-timeout",
              "How long a request's first line and headers may take to arrive; a new connection "
              "may be silent for as long again.",
              member([](auto& p) -> auto& { return p.server.header_timeout; }));
  add_timeout("server.body_timeout", "--body-timeout",
              "Longest silence while a request's body arrives; bodies slower than 1 KB a second "
              "end after a minute.",
              member([](auto& p) -> auto& { return p.server.body_timeout; }));
  add_timeout("server.write_timeout", "--write-timeout",
              "How long a client may leave what it is sent unread before its request is cancelled.",
              member([](auto& p) -> auto& { return p.server.write_timeout; }));
  add_timeout("server.idle_timeout", "--idle-timeout",
              "How long a connection may stay open between two requests.",
              member([](auto& p) -> auto& { return p.server.idle_timeout; }));
  list.push_back({.key = "server.drain_timeout",
                  .flags = {"--drain-timeout"},
                  .value_name = "TIME",
                  .help = "How long running requests may go on after the order to stop.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.server.drain_timeout; }),
                  .least = 0,
                  .most = kDay});
  list.push_back(
      {.key = "server.cors_origins",
       .flags = {"--cors-origin"},
       .value_name = "ORIGIN",
       .help = "Web pages that may call the API from a browser, by origin: "
               "https://chat.example.org, https://*.example.org (one *), http://localhost:* (any "
               "port), same-host (pages of the host that the API is called at, on any port, where "
               "that is an address, a name without a dot or one in .local), "
               "null (local files) or * (all).",
       .change = Change::live,
       .member = member([](auto& p) -> auto& { return p.server.cors_origins; })});
}

void add_model(std::vector<Setting>& list) {
  list.push_back({.key = "model.path",
                  .flags = {"--model", "-m"},
                  .value_name = "PATH",
                  .help = "The model: a file, or a folder with its files.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.model.path; })});
  list.push_back({.key = "model.served_model_name",
                  .flags = {"--served-model-name"},
                  .value_name = "NAME",
                  .help = "Names that requests may use for the model, the first being the one in "
                          "replies; none: the name of its file.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.model.served_model_names; })});
  list.push_back({.key = "model.chat_template",
                  .flags = {"--chat-template"},
                  .value_name = "FILE",
                  .help = "Jinja file to use in place of the model's own chat template.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.model.chat_template; })});
  list.push_back({.key = "model.loader",
                  .flags = {"--loader"},
                  .value_name = "PLUGIN",
                  .help =
                      "Loader plugin that reads the model; auto: the one that knows its format. "
                      "A table [loader.NAME] holds the settings of the loader NAME.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.model.loader; })});
}

void add_engine(std::vector<Setting>& list) {
  list.push_back(
      {.key = "engine.context",
       .flags = {"--context", "--context-length", "--max-context", "--max-model-len"},
       .value_name = "TOKENS",
       .help = "Longest sequence, prompt and reply together; auto: what the model was trained for.",
       .change = Change::transition,
       .member = member([](auto& p) -> auto& { return p.engine.context; }),
       .least = 1,
       .most = kMostTokens,
       .accepts_auto = true});
  list.push_back(
      {.key = "engine.max_concurrent_requests",
       .flags = {"--max-concurrent-requests", "--max-num-seqs"},
       .value_name = "N",
       .help = "Most requests computed at once; further ones wait in the queue.",
       .change = Change::transition,
       .member = member([](auto& p) -> auto& { return p.engine.max_concurrent_requests; }),
       .least = 1,
       .most = kMostCount});
  list.push_back({.key = "engine.queue_limit",
                  .flags = {"--queue-limit"},
                  .value_name = "N",
                  .help = "Most requests waiting; further ones are told to come back later.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.engine.queue_limit; }),
                  .least = 0,
                  .most = kMostCount});
  list.push_back({.key = "engine.max_batch_tokens",
                  .flags = {"--max-batch-tokens"},
                  .value_name = "TOKENS",
                  .help = "Tokens of a step that memory is set aside for.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.engine.max_batch_tokens; }),
                  .least = 1,
                  .most = kMostCount});
  list.push_back({.key = "engine.batch_size",
                  .flags = {"--batch-size"},
                  .value_name = "TOKENS",
                  .help = "Most tokens computed in one step, prompts and replies together; auto: "
                          "max_batch_tokens.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.engine.batch_size; }),
                  .least = 1,
                  .most = kMostCount,
                  .accepts_auto = true});
  list.push_back({.key = "engine.prefill_batch_size",
                  .flags = {"--prefill-batch-size"},
                  .value_name = "TOKENS",
                  .help = "Most tokens of prompts in one step: smaller keeps replies fluent while "
                          "long prompts are read, larger reads them sooner; auto: batch_size.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.engine.prefill_batch_size; }),
                  .least = 1,
                  .most = kMostCount,
                  .accepts_auto = true});
  list.push_back({.key = "engine.target_token_interval",
                  .flags = {"--target-token-interval"},
                  .value_name = "TIME",
                  .help =
                      "Time between two tokens of a reply that is kept while prompts are read, "
                      "as far as the model's speed allows: prompts get what replies leave of "
                      "it, but no less than two thirds of a step. 0: prompts are read as fast as "
                      "possible.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.engine.target_token_interval; }),
                  .least = 0,
                  .most = 60'000});
}

void add_kv(std::vector<Setting>& list) {
  list.push_back({.key = "kv.pool_size",
                  .flags = {"--pool-size"},
                  .value_name = "SIZE",
                  .help = "Memory of the KV pool, taken once at the start. A percentage is of the "
                          "machine's memory, less the weights.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.kv.pool_size; }),
                  .least = kMiB,
                  .most = kPiB,
                  .accepts_share = true,
                  .accepts_auto = true});
  list.push_back({.key = "kv.block_tokens",
                  .flags = {"--block-tokens"},
                  .value_name = "TOKENS",
                  .help = "Tokens of a block, the unit in which the pool is handed out.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.kv.block_tokens; }),
                  .least = 8,
                  .most = 512,
                  .power_of_two = true});
  list.push_back({.key = "kv.cache_type",
                  .flags = {"--cache-type"},
                  .value_name = "TYPE",
                  .help = "How keys and values are stored; quantized means q8_0.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.kv.cache_type; }),
                  .choices = {{"f16", number(CacheType::f16)},
                              {"f32", number(CacheType::f32)},
                              {"q8_0", number(CacheType::q8_0)},
                              {"q4_0", number(CacheType::q4_0)},
                              {"quantized", number(CacheType::q8_0)}}});
  const auto add_side = [&](std::string_view key, std::string_view flag, std::string_view help,
                            Member bound) {
    list.push_back({.key = key,
                    .flags = {flag},
                    .value_name = "TYPE",
                    .help = help,
                    .change = Change::transition,
                    .member = bound,
                    .choices = {{"auto", number(CacheType::automatic)},
                                {"f16", number(CacheType::f16)},
                                {"f32", number(CacheType::f32)},
                                {"q8_0", number(CacheType::q8_0)},
                                {"q4_0", number(CacheType::q4_0)}}});
  };
  add_side("kv.cache_type_k", "--cache-type-k", "How keys are stored; auto: as cache_type says.",
           member([](auto& p) -> auto& { return p.kv.cache_type_k; }));
  add_side("kv.cache_type_v", "--cache-type-v", "How values are stored; auto: as cache_type says.",
           member([](auto& p) -> auto& { return p.kv.cache_type_v; }));
  list.push_back({.key = "kv.prefix_cache",
                  .flags = {"--prefix-cache"},
                  .value_name = "on|off",
                  .help = "Compute what several requests begin with once, and keep it as long as "
                          "the pool has room.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.kv.prefix_cache; })});
  list.push_back({.key = "kv.host_pool_size",
                  .flags = {"--host-pool-size"},
                  .value_name = "SIZE",
                  .help = "Host memory for blocks that the pool has no room for, taken once at the "
                          "start: what the prefix cache would throw out, and requests that yield. "
                          "0: none.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.kv.host_pool_size; }),
                  .least = 0,
                  .most = kPiB});
}

void add_compute(std::vector<Setting>& list) {
  list.push_back({.key = "attention.flash",
                  .flags = {"--flash-attn"},
                  .value_name = "MODE",
                  .help =
                      "Flash attention: auto from flash_threshold on, on (or 1) always, off (or "
                      "0) never.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.attention.flash; }),
                  .choices = {{"auto", number(FlashAttention::automatic)},
                              {"on", number(FlashAttention::forced)},
                              {"off", number(FlashAttention::forbidden)},
                              {"1", number(FlashAttention::forced)},
                              {"0", number(FlashAttention::forbidden)}}});
  list.push_back(
      {.key = "attention.flash_threshold",
       .flags = {"--flash-threshold"},
       .value_name = "TOKENS",
       .help = "Positions that a token attends to from which auto takes flash attention.",
       .change = Change::live,
       .member = member([](auto& p) -> auto& { return p.attention.flash_threshold; }),
       .least = 0,
       .most = kMostTokens});
  list.push_back({.key = "backend.name",
                  .flags = {"--backend"},
                  .value_name = "PLUGIN",
                  .help = "Backend plugin that computes: cpu, vulkan, rocm or another one that is "
                          "installed; auto lets the server choose.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.backend.name; })});
  list.push_back(
      {.key = "backend.isolation",
       .flags = {"--isolation"},
       .value_name = "MODE",
       .help = "Whether the backend runs inside the server or in a worker process.",
       .change = Change::transition,
       .member = member([](auto& p) -> auto& { return p.backend.isolation; }),
       .choices = {{"thread", number(Isolation::thread)},
                   {"process", number(Isolation::process), "backends in a process of their own"}}});
  list.push_back({.key = "backend.kernel_cache",
                  .flags = {"--kernel-cache"},
                  .value_name = "FOLDER",
                  .help =
                      "Where compiled kernels are kept, so that the next start compiles nothing; "
                      "empty: a folder in the user's cache.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.backend.kernel_cache; }),
                  .environment = "HALOGEN_FLASH_CACHE_DIR",
                  .without_effect_on_cpu = "it compiles nothing"});
  list.push_back({.key = "sampler.name",
                  .flags = {"--sampler"},
                  .value_name = "PLUGIN",
                  .help = "Sampler plugin.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.sampler; })});
  list.push_back({.key = "scheduler.name",
                  .flags = {"--scheduler"},
                  .value_name = "PLUGIN",
                  .help = "Scheduler plugin.",
                  .change = Change::transition,
                  .member = member([](auto& p) -> auto& { return p.scheduler; })});
}

void add_operation(std::vector<Setting>& list) {
  list.push_back({.key = "log.level",
                  .flags = {"--log-level"},
                  .value_name = "LEVEL",
                  .help = "Least level that is written.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.log.level; }),
                  .choices = {{"debug", number(LogLevel::debug)},
                              {"info", number(LogLevel::info)},
                              {"warn", number(LogLevel::warning)},
                              {"error", number(LogLevel::error)}}});
  list.push_back(
      {.key = "log.format",
       .flags = {"--log-format"},
       .value_name = "FORMAT",
       .help = "Lines for people, or one JSON object a line.",
       .change = Change::live,
       .member = member([](auto& p) -> auto& { return p.log.format; }),
       .choices = {{"text", number(LogFormat::text)}, {"json", number(LogFormat::json)}}});
  list.push_back({.key = "metrics.enabled",
                  .flags = {"--metrics"},
                  .value_name = "on|off",
                  .help = "Serve /metrics.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.metrics; })});
  list.push_back({.key = "plugins.path",
                  .flags = {"--plugin-path"},
                  .value_name = "FOLDER",
                  .help = "Further folders with plugin manifests, looked at before the system's.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.plugin_path; }),
                  .environment = "HALOGEN_PLUGIN_PATH"});
  list.push_back({.key = "memory.lock",
                  .flags = {"--mlock"},
                  .value_name = "MODE",
                  .help = "Lock all memory before requests are taken, so that serving never waits "
                          "for a page: auto "
                          "where the system allows it, on or no start, off not at all.",
                  .change = Change::restart,
                  .member = member([](auto& p) -> auto& { return p.memory.lock; }),
                  .choices = {{"auto", number(MemoryLock::automatic)},
                              {"on", number(MemoryLock::required)},
                              {"off", number(MemoryLock::off)}},
                  .alone = "on"});
  list.push_back({.key = "memory.huge_pages",
                  .flags = {"--huge-pages"},
                  .value_name = "MODE",
                  .help =
                      "Transparent huge pages for the KV pool, working memory and weights that are "
                      "resident: auto where the system has them, on or no start, off not at all.",
                  .change = Change::restart,
                  .member = member([](auto& p) -> auto& { return p.memory.huge_pages; }),
                  .choices = {{"auto", number(HugePages::automatic)},
                              {"on", number(HugePages::required)},
                              {"off", number(HugePages::off)}},
                  .alone = "on"});
  list.push_back({.key = "memory.weights",
                  .flags = {"--weights"},
                  .value_name = "WHERE",
                  .help =
                      "How the model's file is read: mapped, or resident, a copy on huge pages "
                      "before anything runs; auto means mapped where the backend makes a copy of "
                      "its own (backend.cpu.weight_copy) and resident where it does not.",
                  .change = Change::restart,
                  .member = member([](auto& p) -> auto& { return p.memory.weights; }),
                  .choices = {{"auto", number(WeightMemory::automatic)},
                              {"mapped", number(WeightMemory::mapped)},
                              {"resident", number(WeightMemory::resident)}}});
  list.push_back(
      {.key = "memory.bandwidth",
       .flags = {"--bandwidth"},
       .value_name = "SIZE",
       .help = "Bytes a second that the machine's memory gives at most, of which replies and "
               "metrics then state the share that was reached; 0 where it is not known.",
       .change = Change::restart,
       .member = member([](auto& p) -> auto& { return p.memory.bandwidth; }),
       .least = 0,
       .most = kPiB});
}

std::vector<Setting> make_settings() {
  std::vector<Setting> list;
  add_server(list);
  add_model(list);
  add_engine(list);
  add_kv(list);
  add_compute(list);
  add_sampling(list);
  add_operation(list);
  return list;
}

}  // namespace

std::span<const Section> sections() {
  return kSections;
}

std::span<const Setting> settings() {
  static const std::vector<Setting> list = make_settings();
  return list;
}

}  // namespace halogen
