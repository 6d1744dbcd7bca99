// Everything an operator can set, as plain typed values: what the rest of the core reads.
//
// The initialisers here are the defaults, the only place where they are written. What each value
// means, its range, its flags and its TOML key are in schema.cpp, which binds every member once.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/log.h"
#include "core/base/result.h"
#include "core/config/units.h"

namespace halogen {

// A key of a plugin's own table, such as `threads` of [backend.cpu]. Only the plugin knows which
// keys it takes, so the plugin host checks it; `where` is for its error messages.
struct PluginValue {
  std::string key;  // dotted where the plugin's table has tables inside
  std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>> value;
  std::string where;  // "/etc/halogen/halogen.toml:12" or "flag --set"
};

struct PluginTable {
  std::string kind;  // "backend", "loader", "sampler", "scheduler"
  std::string name;  // the plugin's id: the second part of the table's name
  std::vector<PluginValue> values;
};

// `automatic`, for keys and values: as cache_type says.
enum class CacheType { f16, f32, q8_0, q4_0, automatic };
enum class FlashAttention { automatic, forced, forbidden };
enum class Isolation { thread, process };
enum class MemoryLock { automatic, required, off };
enum class HugePages { automatic, required, off };
enum class WeightMemory { automatic, mapped, resident };

struct ServerProfile {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;          // 0: any free port
  std::vector<std::string> api_keys;  // empty, and no file of them: no key is asked for
  std::string api_key_file;
  std::uint32_t max_connections = 8192;
  ByteSize header_limit = ByteSize::bytes(std::uint64_t{64} << 10);
  ByteSize body_limit = ByteSize::bytes(std::uint64_t{16} << 20);
  std::chrono::milliseconds header_timeout{15'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds idle_timeout{120'000};
  std::chrono::milliseconds drain_timeout{30'000};
  std::vector<std::string> cors_origins = {"same-host", "http://localhost:*", "http://127.0.0.1:*"};

  bool asks_for_key() const { return !api_keys.empty() || !api_key_file.empty(); }
};

struct ModelProfile {
  std::string path;                             // a file or a folder; empty: none was named
  std::vector<std::string> served_model_names;  // empty: the name in the file, or the file's name
  std::string chat_template;                    // path of a Jinja file; empty: the model's own
  std::string loader = "auto";                  // "auto" or a plugin id
};

struct EngineProfile {
  std::uint32_t context = 0;  // tokens of one sequence; 0: as the model was trained
  std::uint32_t max_concurrent_requests = 16;
  std::uint32_t queue_limit = 256;
  std::uint32_t max_batch_tokens = 512;                  // what the buffers of a step are made for
  std::uint32_t batch_size = 0;                          // 0: max_batch_tokens
  std::uint32_t prefill_batch_size = 0;                  // 0: batch_size
  std::chrono::milliseconds target_token_interval{100};  // 0: none

  // Most tokens that one step computes, prompts and decodes together.
  std::uint32_t tokens_per_step() const { return batch_size != 0 ? batch_size : max_batch_tokens; }
  // Most of them that belong to prompts.
  std::uint32_t prefill_tokens_per_step() const {
    return prefill_batch_size != 0 ? prefill_batch_size : tokens_per_step();
  }
};

struct KvProfile {
  // A share counts of the machine's memory, and the weights are taken off it.
  ByteSize pool_size = ByteSize::percent_hundredths(8500);
  std::uint32_t block_tokens = 16;
  CacheType cache_type = CacheType::f16;
  CacheType cache_type_k = CacheType::automatic;
  CacheType cache_type_v = CacheType::automatic;
  bool prefix_cache = true;
  ByteSize host_pool_size;

  CacheType key_type() const {
    return cache_type_k == CacheType::automatic ? cache_type : cache_type_k;
  }
  CacheType value_type() const {
    return cache_type_v == CacheType::automatic ? cache_type : cache_type_v;
  }
};

struct AttentionProfile {
  FlashAttention flash = FlashAttention::automatic;
  std::uint32_t flash_threshold = 512;  // tokens of context
};

struct BackendProfile {
  std::string name = "auto";
  Isolation isolation = Isolation::thread;
  std::string kernel_cache;  // a folder; empty: the user's cache folder
};

// What a request gets where it does not say otherwise.
struct SamplingProfile {
  double temperature = 1.0;
  double dynatemp_range = 0.0;
  double dynatemp_exponent = 1.0;
  std::int32_t top_k = 0;  // 0 and -1: all tokens
  double top_p = 1.0;
  double min_p = 0.0;
  double typical_p = 1.0;
  double top_n_sigma = 0.0;
  double xtc_probability = 0.0;
  double xtc_threshold = 0.1;
  double repeat_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  std::int32_t repeat_last_n = -1;  // -1: all tokens
  double dry_multiplier = 0.0;
  double dry_base = 1.75;
  std::uint32_t dry_allowed_length = 2;
  std::int32_t dry_penalty_last_n = -1;  // -1: all tokens
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};
  std::uint32_t mirostat = 0;
  double mirostat_tau = 5.0;
  double mirostat_eta = 0.1;
  std::vector<std::string> samplers = {"penalties", "dry",   "top_n_sigma", "top_k", "temperature",
                                       "typical_p", "top_p", "min_p",       "xtc"};
};

struct LogProfile {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
};

struct MemoryProfile {
  MemoryLock lock = MemoryLock::automatic;
  HugePages huge_pages = HugePages::automatic;
  WeightMemory weights = WeightMemory::automatic;
  ByteSize bandwidth{};  // a second; 0: not known
};

struct Profile {
  ServerProfile server;
  ModelProfile model;
  EngineProfile engine;
  KvProfile kv;
  AttentionProfile attention;
  BackendProfile backend;
  std::string sampler = "sampler";      // plugin id
  std::string scheduler = "scheduler";  // plugin id
  SamplingProfile sampling;
  LogProfile log;
  bool metrics = true;
  std::vector<std::string> plugin_path;
  MemoryProfile memory;

  std::vector<PluginTable> plugin_tables;

  // Where the values that are not defaults came from, by key: "server.port" -> "flag --port".
  std::map<std::string, std::string, std::less<>> origins;

  // [any] Where the value of `key` came from; "default" where nobody set it.
  std::string_view origin(std::string_view key) const;
  // [any] The table [kind.name]; null where the profile has none.
  const PluginTable* plugin_table(std::string_view kind, std::string_view name) const;
};

// [any] An error that says how to name a model, unless the profile names one.
Status require_model(const Profile& profile);

// [any] What an operator should know about a valid profile, a sentence each: a value that has no
// effect on the chosen backend, a server open to the network without a key. To be logged at the
// start.
std::vector<std::string> profile_notices(const Profile& profile);

}  // namespace halogen
