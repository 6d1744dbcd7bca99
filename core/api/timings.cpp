#include "core/api/timings.h"

#include <algorithm>

namespace halogen::api {
namespace {

struct Totals {
  uint64_t tokens = 0, longest_us = 0;
  uint64_t steps = 0;  // tokens that took a step each
  RequestWork work;

  void add(uint64_t us, const RequestWork& more) {
    longest_us = std::max(longest_us, us);
    work.bytes += more.bytes;
    work.operations += more.operations;
    work.step_bytes += more.step_bytes;
    work.step_ns += more.step_ns;
  }
};

double per_second(uint64_t amount, uint64_t us) {
  return us == 0 ? 0.0 : static_cast<double>(amount) * 1e6 / static_cast<double>(us);
}

// Adds prefix_n, prefix_ms, … for one of a request's two phases.
void add_phase(Json& timings, const std::string& phase, const Totals& of, double bandwidth) {
  const double rate = of.work.step_ns == 0 ? 0.0
                                           : static_cast<double>(of.work.step_bytes) * 1e9 /
                                                 static_cast<double>(of.work.step_ns);
  const double ms = static_cast<double>(of.longest_us) * 1e-3;
  timings[phase + "_n"] = of.tokens;
  timings[phase + "_ms"] = ms;
  timings[phase + "_per_token_ms"] = of.steps == 0 ? 0.0 : ms / static_cast<double>(of.steps);
  timings[phase + "_per_second"] = per_second(of.steps, of.longest_us);
  timings[phase + "_bytes"] = of.work.bytes;
  timings[phase + "_operations"] = of.work.operations;
  timings[phase + "_bytes_per_second"] = rate;
  if (bandwidth > 0) timings[phase + "_bandwidth_share"] = rate / bandwidth;
}

}  // namespace

Json timings_json(std::span<const GenerationEvent> choices, size_t per_prompt, double bandwidth) {
  Totals prompt, predicted;
  uint64_t cached = 0, queued_us = 0;
  for (size_t i = 0; i < choices.size(); i++) {
    const GenerationEvent& choice = choices[i];
    queued_us = std::max(queued_us, choice.queued_us);
    if (i % per_prompt == 0) {
      cached += choice.cached_tokens;
      prompt.tokens += choice.prompt_tokens - choice.cached_tokens;
    }
    predicted.tokens += choice.generated_tokens;
    // The first token comes with the prompt's last step.
    predicted.steps += choice.generated_tokens - std::min(choice.generated_tokens, 1U);
    prompt.add(choice.prefill_us, choice.prefill_work);
    predicted.add(choice.decode_us, choice.decode_work);
  }
  prompt.steps = prompt.tokens;
  Json timings{{"cache_n", cached}, {"queued_ms", static_cast<double>(queued_us) * 1e-3}};
  add_phase(timings, "prompt", prompt, bandwidth);
  add_phase(timings, "predicted", predicted, bandwidth);
  return timings;
}

}  // namespace halogen::api
