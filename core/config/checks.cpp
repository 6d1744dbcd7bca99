#include "core/config/checks.h"

#include <string>
#include <string_view>
#include <vector>

#include "core/config/sampling_limits.h"
#include "core/config/sampling_stages.h"

namespace halogen {
namespace {

// "engine.batch_size = 4096 (flag --batch-size)"
std::string shown(const Profile& profile, std::string_view key, std::uint32_t value) {
  return std::string(key) + " = " + std::to_string(value) + " (" +
         std::string(profile.origin(key)) + ")";
}

struct Limited {
  std::string_view key;
  std::uint32_t value;
};

void require_at_most(const Profile& profile, Limited smaller, Limited larger,
                     std::string_view reason, Problems& problems) {
  if (smaller.value <= larger.value) return;
  problems.add(fail(HALOGEN_E_INVALID,
                    shown(profile, smaller.key, smaller.value) + " is more than " +
                        shown(profile, larger.key, larger.value) + ": " + std::string(reason)));
}

// A plugin is named by its id; what cannot be one is a mistake worth catching before the search.
void check_plugin_name(const Profile& profile, std::string_view key, const std::string& name,
                       Problems& problems) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (!name.empty() && name.find_first_not_of(allowed) == std::string::npos) return;
  problems.add(fail(HALOGEN_E_INVALID,
                    std::string(key) + " = \"" + name + "\" (" + std::string(profile.origin(key)) +
                        "): expected a plugin's name: letters, digits, '.', '_' and '-'"));
}

// "sampling.samplers (flag --samplers)"
std::string named(const Profile& profile, std::string_view key) {
  return std::string(key) + " (" + std::string(profile.origin(key)) + ")";
}

void check_sampling(const Profile& profile, Problems& problems) {
  const SamplingProfile& sampling = profile.sampling;
  if (auto stages = sampling_stages(sampling.samplers); !stages) {
    problems.add(fail(HALOGEN_E_INVALID,
                      named(profile, "sampling.samplers") + " " + stages.error().message));
  }
  if (sampling.mirostat == 1) {
    problems.add(fail(HALOGEN_E_UNSUPPORTED, shown(profile, "sampling.mirostat", 1) + ": " +
                                                 sampling_limits::kNoMirostat1));
  }
  const std::vector<std::string>& breakers = sampling.dry_sequence_breakers;
  const std::string key = named(profile, "sampling.dry_sequence_breakers");
  if (breakers.size() > sampling_limits::kMostDryBreakers) {
    problems.add(fail(HALOGEN_E_INVALID,
                      key + " has " + std::to_string(breakers.size()) + " texts; at most " +
                          std::to_string(sampling_limits::kMostDryBreakers) + " are allowed"));
  }
  for (const std::string& breaker : breakers) {
    if (breaker.size() <= sampling_limits::kLongestDryBreaker) continue;
    problems.add(fail(HALOGEN_E_INVALID, key + " has a text of more than " +
                                             std::to_string(sampling_limits::kLongestDryBreaker) +
                                             " bytes"));
  }
}

}  // namespace

void check_profile(const Profile& profile, Problems& problems) {
  const EngineProfile& engine = profile.engine;
  const Limited memory{"engine.max_batch_tokens", engine.max_batch_tokens};
  const Limited step =
      engine.batch_size != 0 ? Limited{"engine.batch_size", engine.batch_size} : memory;
  require_at_most(profile, step, memory, "a step cannot hold more tokens than its memory",
                  problems);
  require_at_most(profile, {"engine.prefill_batch_size", engine.prefill_batch_size}, step,
                  "a step cannot hold more prompt tokens than tokens", problems);
  require_at_most(profile, {"engine.max_concurrent_requests", engine.max_concurrent_requests}, step,
                  "every running request needs a token in each step", problems);
  check_sampling(profile, problems);
  check_plugin_name(profile, "backend.name", profile.backend.name, problems);
  check_plugin_name(profile, "model.loader", profile.model.loader, problems);
  check_plugin_name(profile, "sampler.name", profile.sampler, problems);
  check_plugin_name(profile, "scheduler.name", profile.scheduler, problems);
  if (profile.server.host.empty()) {
    problems.add(fail(HALOGEN_E_INVALID, "server.host is empty (" +
                                             std::string(profile.origin("server.host")) +
                                             "): expected an address, such as 127.0.0.1"));
  }
}

}  // namespace halogen
