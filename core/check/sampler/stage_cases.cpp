// The stages that the contract has since ABI 1.1: what each leaves, how probable that is, and the
// order in which they run.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/check/sampler/case_list.h"
#include "core/check/sampler/draws.h"

namespace halogen::check {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Adds cases of one kind: a row's distribution under parameters that the case changes.
class Distributions {
 public:
  Distributions(const Options& options, CaseList& list)
      : draws_(options.quick ? 4000 : 20000), list_(list) {}

  template <typename Change>
  void add(const std::string& name, bool quick, Change change) {
    Distribution d;
    d.parameters = stages_off();
    change(d);
    list_.add_since_1_1("stages/" + name, quick, [name, d, draws = draws_](Subject& subject) {
      return follows(subject, name, d, draws);
    });
  }

 private:
  size_t draws_;
  CaseList& list_;
};

void add_single_stages(Distributions& list) {
  for (const float p : {0.0F, 0.3F, 0.7F, 0.95F})
    list.add("typical_p/" + number_text("%g", p), p == 0.7F,
             [=](Distribution& d) { d.parameters.typical_p = p; });
  for (const float n : {0.5F, 1.0F, 2.0F})
    list.add("top_n_sigma/" + number_text("%g", n), n == 1,
             [=](Distribution& d) { d.parameters.top_n_sigma = n; });
  list.add("top_n_sigma/at-any-temperature", false, [](Distribution& d) {
    d.parameters.top_n_sigma = 1;
    d.parameters.temperature = 3;
  });
  list.add("top_n_sigma/of-what-is-possible", true, [](Distribution& d) {
    d.parameters.top_n_sigma = 1;
    d.circumstances.mask = {0x0f0f0f0fU, 0x0001ff00U};
  });
  for (const float often : {0.4F, 1.0F})
    list.add("xtc/probability-" + number_text("%g", often), true, [=](Distribution& d) {
      d.parameters.xtc_probability = often;
      d.parameters.xtc_threshold = 0.03F;
    });
  list.add("xtc/nothing-above", false, [](Distribution& d) {
    d.parameters.xtc_probability = 1;
    d.parameters.xtc_threshold = 0.6F;
  });
  list.add("dynatemp/wide", true, [](Distribution& d) {
    d.parameters.temperature = 1.2F;
    d.parameters.dynatemp_range = 0.7F;
    d.parameters.dynatemp_exponent = 0.5F;
  });
  list.add("dynatemp/down-to-zero", true, [](Distribution& d) {
    d.parameters.temperature = 0.8F;
    d.parameters.dynatemp_range = 2;
    d.parameters.dynatemp_exponent = 2;
  });
}

// The first token's limit is twice tau.
void add_mirostat(Distributions& list) {
  for (const float tau : {0.5F, 1.5F, 2.0F})
    list.add("mirostat/tau-" + number_text("%g", tau), tau == 2, [=](Distribution& d) {
      d.parameters.mirostat = 2;
      d.parameters.mirostat_tau = tau;
      d.parameters.temperature = 1.5F;
    });
  list.add("mirostat/in-place-of-others", true, [](Distribution& d) {
    d.parameters.mirostat = 2;
    d.parameters.mirostat_tau = 2;
    d.parameters.top_k = 1;
    d.parameters.top_p = 0.1F;
    d.parameters.min_p = 0.9F;
    d.parameters.typical_p = 0.1F;
    d.parameters.top_n_sigma = 0.1F;
    d.parameters.xtc_probability = 1;
    d.parameters.xtc_threshold = 0;
    d.parameters.presence_penalty = 1;
    d.circumstances.history = {{1, 2}, {3}};
  });
}

// "1 2 3" was followed by 4, "3" alone by 9, too.
void add_dry(Distributions& list) {
  const History history{{1, 2, 3, 4, 3, 9, 0}, {1, 2, 3}};
  const auto add = [&](const std::string& name, bool quick, auto change) {
    list.add("dry/" + name, quick, [&](Distribution& d) {
      d.circumstances.history = history;
      d.parameters.dry_multiplier = 0.7F;
      d.parameters.dry_allowed_length = 1;
      d.biases = {{4, 3}, {9, 3}};  // so that what they lose is seen
      change(d);
    });
  };
  add("as-is", true, [](Distribution&) {});
  add("base", false, [](Distribution& d) { d.parameters.dry_base = 1.3F; });
  add("allowed-length", true, [](Distribution& d) { d.parameters.dry_allowed_length = 3; });
  add("nothing-long-enough", false, [](Distribution& d) { d.parameters.dry_allowed_length = 4; });
  add("window", true, [](Distribution& d) { d.parameters.dry_penalty_last_n = 9; });
  add("window-of-none", false, [](Distribution& d) { d.parameters.dry_penalty_last_n = 0; });
  add("breaker", true, [](Distribution& d) { d.dry_breakers = {2, -1}; });
  add("breaker-of-two", true, [](Distribution& d) { d.dry_breakers = {1, 2, -1, 3, 1, -1}; });
  add("breaker-loses-nothing", false, [](Distribution& d) { d.dry_breakers = {4, -1}; });
}

void add_orders(const Options& options, Distributions& list) {
  const auto add = [&](const std::string& name, std::vector<uint32_t> stages, auto change) {
    list.add("order/" + name, true, [&](Distribution& d) {
      d.stages = std::move(stages);
      change(d);
    });
  };
  const auto everything = [](Distribution& d) {
    d.parameters.temperature = 1.6F;
    d.parameters.top_k = 30;
    d.parameters.top_p = 0.9F;
    d.parameters.min_p = 0.03F;
    d.parameters.typical_p = 0.9F;
    d.parameters.top_n_sigma = 2;
    d.parameters.xtc_probability = 0.5F;
    d.parameters.xtc_threshold = 0.08F;
    d.parameters.repetition_penalty = 1.4F;
    d.parameters.dry_multiplier = 1;
    d.circumstances.history = {{1, 2, 3, 4, 0}, {1, 2, 3}};
  };
  add("temperature-last", {HALOGEN_STAGE_MIN_P, HALOGEN_STAGE_TEMPERATURE}, [](Distribution& d) {
    d.parameters.temperature = 2.5F;
    d.parameters.min_p = 0.15F;
  });
  add("top_p-before-top_k", {HALOGEN_STAGE_TOP_P, HALOGEN_STAGE_TOP_K}, [](Distribution& d) {
    d.parameters.top_p = 0.8F;
    d.parameters.top_k = 6;
  });
  add("xtc-first", {HALOGEN_STAGE_XTC, HALOGEN_STAGE_TOP_K}, [](Distribution& d) {
    d.parameters.xtc_probability = 1;
    d.parameters.xtc_threshold = 0.05F;
    d.parameters.top_k = 5;
  });
  add("dry-before-penalties", {HALOGEN_STAGE_DRY, HALOGEN_STAGE_PENALTIES}, [&](Distribution& d) {
    everything(d);
    d.parameters.repetition_penalty = 3;
    d.biases = {{4, 3}};
  });
  add("what-is-not-named", {HALOGEN_STAGE_TOP_K}, [&](Distribution& d) {
    everything(d);
    d.parameters.temperature = 0.2F;
  });
  add("none-is-named", {}, [&](Distribution& d) {
    everything(d);
    d.no_stages = true;
  });
  list.add("order/default", true, everything);
  std::vector<uint32_t> stages(HALOGEN_STAGE_XTC);
  std::iota(stages.begin(), stages.end(), uint32_t{HALOGEN_STAGE_PENALTIES});
  std::mt19937 random(static_cast<uint32_t>(options.seed));
  for (int i = 1; i <= 4; i++) {
    std::shuffle(stages.begin(), stages.end(), random);
    add("shuffled-" + std::to_string(i), stages, everything);
  }
}

// At a temperature of 0 only penalties and DRY count, as far as they are named.
Outcome takes_the_best_of_named_stages(Subject& subject) {
  auto sampler = SamplerSession::open(subject, 5);
  if (!sampler) return Outcome::failed(sampler.error().message);
  Parameters parameters = stages_off();
  parameters.temperature = 0;
  parameters.presence_penalty = 10;
  parameters.dry_multiplier = 10;
  parameters.top_k = 1;
  parameters.xtc_probability = 1;
  parameters.xtc_threshold = 0;
  parameters.mirostat = 2;
  // Token 0 was generated; 1 would go on with the repetition "2 3".
  const Tokens prompt = {2, 3, 1}, generated = {0, 2, 3};
  const std::vector<float> logits = {9, 8, 7, 6, 5};
  struct Named {
    std::vector<uint32_t> stages;
    int32_t token;
  };
  Findings findings;
  for (const Named& named :
       {Named{{HALOGEN_STAGE_TOP_K, HALOGEN_STAGE_XTC}, 0}, Named{{HALOGEN_STAGE_PENALTIES}, 1},
        Named{{HALOGEN_STAGE_DRY, HALOGEN_STAGE_XTC}, 0},
        Named{{HALOGEN_STAGE_XTC, HALOGEN_STAGE_DRY, HALOGEN_STAGE_PENALTIES}, 4}}) {
    parameters.stages = named.stages.data();
    parameters.n_stages = static_cast<uint32_t>(named.stages.size());
    SamplerState state = sampler->state(parameters, prompt);
    state.accept(generated);
    const int32_t token = sampler->sample_one({logits, state}).token;
    findings.expect(token == named.token,
                    "at temperature 0, with " + std::to_string(named.stages.size()) +
                        " stages named of which the first is " + std::to_string(named.stages[0]) +
                        ", token " + std::to_string(token) + " is taken and not " +
                        std::to_string(named.token));
  }
  return findings.outcome();
}

// Every stage has a value that would be seen, behind the end of what an older host has written.
Outcome leaves_off_what_is_behind_the_end(Subject& subject, size_t draws) {
  Distribution d;
  const uint32_t size = d.parameters.struct_size;
  d.parameters = stages_off();
  d.parameters.struct_size = size;
  d.parameters.typical_p = 0.1F;
  d.parameters.top_n_sigma = 0.1F;
  d.parameters.xtc_probability = 1;
  d.parameters.xtc_threshold = 0;
  d.parameters.dynatemp_range = 9;
  d.parameters.mirostat = 2;
  d.parameters.mirostat_tau = 0;
  d.parameters.dry_multiplier = 9;
  d.circumstances.history = {{1, 2, 3, 1}, {2}};
  return follows(subject, "older-host", d, draws);
}

// The parameters of a newer host: larger, with something that is not zero at their end.
Outcome takes_larger_parameters(Subject& subject) {
  auto sampler = SamplerSession::open(subject, 3);
  if (!sampler) return Outcome::failed(sampler.error().message);
  struct {
    Parameters parameters;
    uint8_t more[64];
  } newer{stages_off(), {}};
  std::memset(newer.more, 0xa5, sizeof newer.more);
  newer.parameters.struct_size = sizeof newer;
  newer.parameters.top_n_sigma = 0.1F;
  const SamplerState state = sampler->state(newer.parameters);
  const int32_t token = sampler->sample_one({{0, 2, -kInfinity}, state}).token;
  return token == 1 ? Outcome{}
                    : Outcome::failed(
                          "parameters of a newer host are not read as those that are "
                          "known: token " +
                          std::to_string(token) + " is drawn");
}

}  // namespace

void add_stage_cases(const Options& options, CaseList& list) {
  Distributions distributions(options, list);
  add_single_stages(distributions);
  add_mirostat(distributions);
  add_dry(distributions);
  add_orders(options, distributions);
  list.add_since_1_1("stages/order/at-temperature-0", true, takes_the_best_of_named_stages);
  list.add_since_1_1("stages/older-host", true, [](Subject& subject) {
    return leaves_off_what_is_behind_the_end(subject, 4000);
  });
  list.add_since_1_1("stages/newer-host", true, takes_larger_parameters);
}

}  // namespace halogen::check
