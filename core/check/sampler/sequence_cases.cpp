// The stages of ABI 1.1 along a sequence: what DRY and mirostat remember of the accepted tokens,
// and what a seed decides.
#include <cmath>
#include <limits>

#include "core/check/reference/random_weights.h"
#include "core/check/sampler/case_list.h"
#include "core/check/sampler/draws.h"

namespace halogen::check {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// --- DRY ----------------------------------------------------------------------------------------

struct DrySettings {
  uint32_t allowed_length;
  int32_t last_n;
  Tokens breakers;
};

// Few tokens, so that there are many repetitions; every step is compared with a search of every
// place. They are accepted in pieces of 1 to 3.
Outcome follows_dry(Subject& subject, const SamplerSession& sampler, const DrySettings& settings) {
  constexpr uint32_t kKinds = 4;
  std::mt19937 random = subject.random("dry");
  Parameters parameters = stages_off();
  parameters.temperature = 0;
  parameters.dry_multiplier = 0.4F;
  parameters.dry_base = 1.2F;
  parameters.dry_allowed_length = settings.allowed_length;
  parameters.dry_penalty_last_n = settings.last_n;
  parameters.dry_breakers = settings.breakers.data();
  parameters.n_dry_breakers = static_cast<uint32_t>(settings.breakers.size());
  const auto some = [&](Tokens& tokens, size_t count) {
    for (size_t i = 0; i < count; i++) tokens.push_back(static_cast<int32_t>(random() % kKinds));
  };
  Circumstances circumstances{{{}, {}}, {}, {}};
  History& history = circumstances.history;
  some(history.prompt, 40);
  SamplerState state = sampler.state(parameters, history.prompt, 200);
  for (uint32_t step = 0; history.generated.size() < 200; step++) {
    std::vector<float> logits = reference::random_floats(kVocabulary, random, 0.5F);
    for (uint32_t token = 0; token < kKinds; token++) logits[token] += 2;
    const int32_t token = sampler.sample_one({logits, state}).token;
    // Rounding may decide between two that are as good as equal.
    if (!(adjusted_row(logits, parameters, circumstances).behind_best(token) < 1e-4))
      return Outcome::failed(
          "token " + std::to_string(token) + " is taken after " +
          std::to_string(history.generated.size()) +
          " accepted tokens, which is not the best after DRY with an allowed length of " +
          std::to_string(settings.allowed_length) + ", the last " +
          std::to_string(settings.last_n) + " tokens and " +
          (settings.breakers.empty() ? "no" : "some") + " breakers");
    Tokens piece;
    some(piece, std::min<size_t>(1 + step % 3, 200 - history.generated.size()));
    state.accept(piece);
    history.generated.insert(history.generated.end(), piece.begin(), piece.end());
  }
  return {};
}

Outcome remembers_repetitions(Subject& subject) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  for (const DrySettings& settings :
       {DrySettings{2, -1, {}}, DrySettings{0, -1, {}}, DrySettings{1, 25, {}},
        DrySettings{1, -1, {0, -1}}, DrySettings{2, 60, {1, 1, -1, 2, 0, 3, -1}}}) {
    Outcome outcome = follows_dry(subject, *sampler, settings);
    if (outcome.verdict != Verdict::pass) return outcome;
  }
  return {};
}

// --- mirostat -----------------------------------------------------------------------------------

// A row of 2^bits equally likely tokens, so that the surprise of whatever is drawn is known.
struct MirostatStep {
  int bits;
  enum { drawn, another, drawn_and_more, drawn_after_looking_again } accept;
};

// The limit after the steps is the same for every seed, and a last row shows it.
Outcome follows_mirostat(Subject& subject, const std::vector<MirostatStep>& steps, size_t draws) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  Parameters parameters = stages_off();
  parameters.mirostat = 2;
  parameters.mirostat_tau = 2.2F;
  parameters.mirostat_eta = 0.4F;
  std::vector<float> last_row(kVocabulary);
  for (size_t i = 0; i < kVocabulary; i++) last_row[i] = -0.3F * static_cast<float>(i);

  constexpr size_t kRows = 100;
  constexpr int32_t kAnother = kVocabulary - 1;
  std::vector<size_t> counts(kVocabulary);
  Circumstances end;
  for (size_t first = 0; first < draws; first += kRows) {
    std::vector<SamplerState> states;
    for (size_t i = 0; i < kRows; i++) {
      parameters.seed = subject.options().seed * 1000003 + first + i;
      states.push_back(sampler->state(parameters));
    }
    const auto sample = [&](const std::vector<float>& logits) {
      std::vector<SampleRow> rows;
      for (const SamplerState& state : states) rows.push_back({logits, state});
      return sampler->sample(rows);
    };
    double limit = 2 * double{parameters.mirostat_tau};
    for (const MirostatStep& step : steps) {
      std::vector<float> logits(kVocabulary, -kInfinity);
      std::fill_n(logits.begin(), size_t{1} << step.bits, 1.0F);
      if (step.accept == MirostatStep::drawn_after_looking_again) sample(logits);
      const std::vector<Chosen> chosen = sample(logits);
      for (size_t i = 0; i < kRows; i++) {
        if (step.accept == MirostatStep::another)
          states[i].accept({kAnother});
        else if (step.accept == MirostatStep::drawn_and_more)
          states[i].accept({chosen[i].token, kAnother, 0});
        else
          states[i].accept({chosen[i].token});
      }
      // Where all are too surprising, the best alone is left.
      const double surprise = step.bits <= limit ? step.bits : 0;
      if (step.accept != MirostatStep::another)
        limit -= double{parameters.mirostat_eta} * (surprise - double{parameters.mirostat_tau});
    }
    end.mirostat_limit = limit;
    for (const Chosen& chosen : sample(last_row)) counts.at(static_cast<size_t>(chosen.token))++;
  }
  Outcome outcome = judge_counts(counts, probabilities(last_row, parameters, end));
  if (outcome.verdict == Verdict::fail)
    outcome.sentence = "where mirostat's limit should be " +
                       number_text("%.3g", *end.mirostat_limit) + " bits: " + outcome.sentence;
  return outcome;
}

// --- seeds --------------------------------------------------------------------------------------

Parameters everything(bool mirostat) {
  Parameters parameters = stages_off();
  parameters.seed = 5;
  parameters.temperature = 1.3F;
  parameters.dynatemp_range = 0.4F;
  parameters.typical_p = 0.95F;
  parameters.top_n_sigma = 3;
  parameters.xtc_probability = 0.5F;
  parameters.xtc_threshold = 0.03F;
  parameters.dry_multiplier = 0.5F;
  parameters.mirostat = mirostat ? 2 : 0;
  parameters.mirostat_tau = 3;
  return parameters;
}

Outcome depends_on_the_seed_alone(Subject& subject, bool mirostat) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  const std::vector<float> logits = random_row(subject, "seeds of stages", kVocabulary, 1.0F);
  Parameters parameters = everything(mirostat);
  const Tokens alone = drawn(*sampler, logits, parameters, {}, 60);
  Findings findings;
  findings.expect(alone == drawn(*sampler, logits, parameters, {}, 60),
                  "the same seed gives other tokens the second time");
  for (const size_t others : {size_t{1}, size_t{7}, size_t{63}})
    findings.expect(
        alone == drawn(*sampler, logits, parameters, company(parameters, others), 60),
        "a sequence draws other tokens beside " + std::to_string(others) + " others than alone");
  parameters.seed = 6;
  findings.expect(alone != drawn(*sampler, logits, parameters, {}, 60),
                  "the seeds 5 and 6 give the same 60 tokens");
  SamplerState state = sampler->state(parameters);
  const int32_t first = sampler->sample_one({logits, state}).token;
  for (int i = 0; i < 20; i++)
    findings.expect(sampler->sample_one({logits, state}).token == first,
                    "sampling again without an accept draws another token");
  return findings.outcome();
}

// Along one sequence XTC happens as often as over many seeds, each token anew.
Outcome excludes_each_token_anew(Subject& subject, size_t draws) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  const std::vector<float> logits = random_row(subject, "xtc", kVocabulary);
  Parameters parameters = stages_off();
  parameters.xtc_probability = 0.5F;
  parameters.xtc_threshold = 0.03F;
  std::vector<size_t> counts(kVocabulary);
  for (const int32_t token : drawn(*sampler, logits, parameters, {}, draws))
    counts.at(static_cast<size_t>(token))++;
  return judge_counts(counts, probabilities(logits, parameters));
}

// --- what is lent -------------------------------------------------------------------------------

Outcome copies_breakers_and_stages(Subject& subject) {
  auto sampler = SamplerSession::open(subject, 5);
  if (!sampler) return Outcome::failed(sampler.error().message);
  Parameters parameters = stages_off();
  parameters.temperature = 0;
  parameters.dry_multiplier = 10;
  parameters.dry_allowed_length = 1;
  parameters.presence_penalty = 10;
  Tokens breakers = {3, -1};
  std::vector<uint32_t> stages = {HALOGEN_STAGE_DRY};
  parameters.dry_breakers = breakers.data();
  parameters.n_dry_breakers = 2;
  parameters.stages = stages.data();
  parameters.n_stages = 1;
  // 0 would go on with the repetition of 1, and the breaker 3 is not in its way.
  SamplerState state = sampler->state(parameters, {1, 0, 3});
  breakers[0] = 1;
  stages[0] = HALOGEN_STAGE_PENALTIES;
  state.accept({1});
  Findings findings;
  findings.expect(sampler->sample_one({{9, 8, 7, 6, 5}, state}).token == 1,
                  "the state follows breakers or stages that were only lent to it");
  return findings.outcome();
}

}  // namespace

void add_sequence_cases(const Options& options, CaseList& list) {
  const size_t draws = options.quick ? 4000 : 20000;
  const auto mirostat = [&](const char* name, std::vector<MirostatStep> steps) {
    list.add_since_1_1(std::string("stages/mirostat/") + name, true,
                       [steps = std::move(steps), draws](Subject& subject) {
                         return follows_mirostat(subject, steps, draws);
                       });
  };
  list.add_since_1_1("stages/dry/long-sequence", true, remembers_repetitions);
  mirostat("limit-follows-surprise", {{4, MirostatStep::drawn},
                                      {3, MirostatStep::drawn},
                                      {4, MirostatStep::drawn},
                                      {4, MirostatStep::drawn}});
  mirostat("limit-rises", {{1, MirostatStep::drawn}, {0, MirostatStep::drawn}});
  mirostat("token-that-was-not-drawn", {{4, MirostatStep::another}, {4, MirostatStep::drawn}});
  mirostat("several-accepted", {{4, MirostatStep::drawn_and_more}, {3, MirostatStep::drawn}});
  mirostat("sampled-again", {{4, MirostatStep::drawn_after_looking_again}});
  for (const bool with_mirostat : {false, true})
    list.add_since_1_1(
        std::string("stages/seed/") + (with_mirostat ? "mirostat" : "all"), true,
        [=](Subject& subject) { return depends_on_the_seed_alone(subject, with_mirostat); });
  list.add_since_1_1("stages/seed/xtc-each-token-anew", true,
                     [](Subject& subject) { return excludes_each_token_anew(subject, 5000); });
  list.add_since_1_1("stages/own-their-inputs", true, copies_breakers_and_stages);
}

}  // namespace halogen::check
