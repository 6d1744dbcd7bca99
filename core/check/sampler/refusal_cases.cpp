// Parameters and tokens that are out of range: refused, and by name.
#include <cstring>
#include <limits>

#include "core/check/sampler/case_list.h"
#include "core/check/sampler/draws.h"

namespace halogen::check {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Refusal {
  const char* parameter;
  const char* value;
  void (*change)(Parameters& parameters);
};
const Refusal kRefusals[] = {
    {"temperature", "-1", [](Parameters& p) { p.temperature = -1; }},
    {"temperature", "nan", [](Parameters& p) { p.temperature = kNan; }},
    {"temperature", "inf", [](Parameters& p) { p.temperature = kInfinity; }},
    {"top_k", "-5", [](Parameters& p) { p.top_k = -5; }},
    {"top_p", "1.5", [](Parameters& p) { p.top_p = 1.5F; }},
    {"top_p", "-0.5", [](Parameters& p) { p.top_p = -0.5F; }},
    {"top_p", "nan", [](Parameters& p) { p.top_p = kNan; }},
    {"min_p", "1.5", [](Parameters& p) { p.min_p = 1.5F; }},
    {"min_p", "-0.5", [](Parameters& p) { p.min_p = -0.5F; }},
    {"repetition_penalty", "0", [](Parameters& p) { p.repetition_penalty = 0; }},
    {"repetition_penalty", "nan", [](Parameters& p) { p.repetition_penalty = kNan; }},
    {"presence_penalty", "inf", [](Parameters& p) { p.presence_penalty = kInfinity; }},
    {"frequency_penalty", "nan", [](Parameters& p) { p.frequency_penalty = kNan; }},
    {"penalty_window", "-2", [](Parameters& p) { p.penalty_window = -2; }},
};

// Of the members that came with ABI 1.1.
constexpr uint32_t kUnknownStage[] = {77};
constexpr uint32_t kSameStageTwice[] = {HALOGEN_STAGE_TOP_K, HALOGEN_STAGE_TOP_P,
                                        HALOGEN_STAGE_TOP_K};
const Refusal kStageRefusals[] = {
    {"typical_p", "1.5", [](Parameters& p) { p.typical_p = 1.5F; }},
    {"typical_p", "nan", [](Parameters& p) { p.typical_p = kNan; }},
    {"top_n_sigma", "inf", [](Parameters& p) { p.top_n_sigma = kInfinity; }},
    {"top_n_sigma", "nan", [](Parameters& p) { p.top_n_sigma = kNan; }},
    {"xtc_probability", "-0.5", [](Parameters& p) { p.xtc_probability = -0.5F; }},
    {"xtc_probability", "1.5", [](Parameters& p) { p.xtc_probability = 1.5F; }},
    {"xtc_threshold", "-0.5", [](Parameters& p) { p.xtc_threshold = -0.5F; }},
    {"xtc_threshold", "nan", [](Parameters& p) { p.xtc_threshold = kNan; }},
    {"dynatemp_range", "-1", [](Parameters& p) { p.dynatemp_range = -1; }},
    {"dynatemp_exponent", "nan", [](Parameters& p) { p.dynatemp_exponent = kNan; }},
    {"mirostat", "3", [](Parameters& p) { p.mirostat = 3; }},
    {"mirostat_tau", "-1", [](Parameters& p) { p.mirostat_tau = -1; }},
    {"mirostat_eta", "nan", [](Parameters& p) { p.mirostat_eta = kNan; }},
    {"dry_multiplier", "-1", [](Parameters& p) { p.dry_multiplier = -1; }},
    {"dry_base", "-1", [](Parameters& p) { p.dry_base = -1; }},
    {"dry_base", "inf", [](Parameters& p) { p.dry_base = kInfinity; }},
    {"dry_penalty_last_n", "-2", [](Parameters& p) { p.dry_penalty_last_n = -2; }},
    {"stage", "unknown",
     [](Parameters& p) {
       p.stages = kUnknownStage;
       p.n_stages = 1;
     }},
    {"stage", "twice",
     [](Parameters& p) {
       p.stages = kSameStageTwice;
       p.n_stages = 3;
     }},
};

Outcome refuses(Subject& subject, Parameters parameters, const Refusal& refusal) {
  auto sampler = SamplerSession::open(subject, 8);
  if (!sampler) return Outcome::failed(sampler.error().message);
  refusal.change(parameters);
  Findings findings;
  const std::string what = std::string(refusal.parameter) + " = " + refusal.value;
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  halogen_status status = sampler->factory().check(&parameters, &error);
  if (status == HALOGEN_E_UNSUPPORTED && HALOGEN_HAS(&parameters, reserved))
    return Outcome::unsupported(error.message);
  findings.expect(status == HALOGEN_E_INVALID,
                  "check answers " + std::string(halogen_status_name(status)) + " to " + what);
  findings.expect(std::strstr(error.message, refusal.parameter) != nullptr,
                  "check's message for " + what + " does not name the parameter: " + error.message);
  sampler->factory().check(&parameters, nullptr);
  halogen_sampling_state* state = nullptr;
  status =
      sampler->factory().state_create(sampler->get(), &parameters, nullptr, 0, 4, &state, &error);
  findings.expect(status != HALOGEN_OK, "state_create accepts " + what);
  return findings.outcome();
}

// A token of what is given to state_create that is not in the vocabulary.
enum class Foreign { bias, prompt, breaker };

Outcome refuses_foreign_tokens(Subject& subject, Foreign where) {
  auto sampler = SamplerSession::open(subject, 8);
  if (!sampler) return Outcome::failed(sampler.error().message);
  const char* const name = where == Foreign::bias     ? "a bias"
                           : where == Foreign::prompt ? "a prompt"
                                                      : "a sequence breaker";
  Findings findings;
  for (const int32_t token : {8, where == Foreign::breaker ? -2 : -1, 1 << 30}) {
    const halogen_logit_bias bias{token, 1.0F};
    const int32_t breaker[] = {token, -1};
    Parameters parameters = where == Foreign::breaker ? stages_off() : plain_parameters();
    parameters.presence_penalty = 1;
    if (where == Foreign::bias) {
      parameters.biases = &bias;
      parameters.n_biases = 1;
    }
    if (where == Foreign::breaker) {
      parameters.dry_multiplier = 1;
      parameters.dry_breakers = breaker;
      parameters.n_dry_breakers = 2;
    }
    halogen_sampling_state* state = nullptr;
    halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
    const halogen_status status = sampler->factory().state_create(
        sampler->get(), &parameters, &token, where == Foreign::prompt ? 1 : 0, 4, &state, &error);
    const std::string what =
        std::string(name) + " of token " + std::to_string(token) + " in a vocabulary of 8";
    findings.expect(status != HALOGEN_OK, what + " is accepted");
    findings.expect(std::strstr(error.message, std::to_string(token).c_str()) != nullptr,
                    what + " is refused without its number: " + error.message);
    if (status == HALOGEN_OK) sampler->factory().state_destroy(state);
  }
  return findings.outcome();
}

}  // namespace

void add_refusals(CaseList& list) {
  const auto name = [](const Refusal& refusal) {
    return std::string("refuses/") + refusal.parameter + "=" + refusal.value;
  };
  for (const Refusal& refusal : kRefusals)
    list.add(name(refusal), true, [&refusal](Subject& subject) {
      return refuses(subject, plain_parameters(), refusal);
    });
  for (const Refusal& refusal : kStageRefusals)
    list.add_since_1_1(name(refusal), true, [&refusal](Subject& subject) {
      return refuses(subject, stages_off(), refusal);
    });
  list.add("refuses/bias-of-no-token", true,
           [](Subject& subject) { return refuses_foreign_tokens(subject, Foreign::bias); });
  list.add("refuses/prompt-of-no-token", true,
           [](Subject& subject) { return refuses_foreign_tokens(subject, Foreign::prompt); });
  list.add_since_1_1("refuses/breaker-of-no-token", true, [](Subject& subject) {
    return refuses_foreign_tokens(subject, Foreign::breaker);
  });
}

}  // namespace halogen::check
