// The state of a sequence: its history, what it borrows, and structs of a newer host.
#include <cstring>

#include "core/check/reference/random_weights.h"
#include "core/check/sampler/case_list.h"
#include "core/check/sampler/draws.h"

namespace halogen::check {
namespace {

Outcome states_are_independent(Subject& subject) {
  auto sampler = SamplerSession::open(subject, 4);
  if (!sampler) return Outcome::failed(sampler.error().message);
  Parameters parameters = greedy_parameters();
  parameters.presence_penalty = 10;
  const std::vector<float> logits = {3, 2, 1, 0};
  SamplerState a = sampler->state(parameters), b = sampler->state(parameters);
  Findings findings;
  const auto token = [&](const SamplerState& state) {
    return sampler->sample_one({logits, state}).token;
  };
  findings.expect(token(a) == 0, "a fresh state does not take the largest logit");
  findings.expect(token(a) == 0, "sampling changes the history, which accept alone may do");
  a.accept({0});
  findings.expect(token(a) == 1, "the presence penalty does not follow what was accepted");
  findings.expect(token(b) == 0, "a token that one state accepts changes another state");
  a.accept({2, 1});
  findings.expect(token(a) == 3, "the penalties do not follow several accepted tokens");
  // What was sampled need not be what is taken.
  b.accept({3});
  findings.expect(token(b) == 0, "a token that was sampled and not accepted is penalised");
  return findings.outcome();
}

Outcome copies_its_inputs(Subject& subject) {
  auto sampler = SamplerSession::open(subject, 4);
  if (!sampler) return Outcome::failed(sampler.error().message);
  std::vector<halogen_logit_bias> biases = {{0, -100}};
  Tokens prompt = {1};
  Parameters parameters = greedy_parameters();
  parameters.repetition_penalty = 100;
  parameters.biases = biases.data();
  parameters.n_biases = 1;
  const SamplerState state = sampler->state(parameters, prompt);
  biases[0] = {2, -100};
  prompt[0] = 3;
  parameters.repetition_penalty = 1;
  Findings findings;
  findings.expect(sampler->sample_one({{9, 8, 7, 6}, state}).token == 2,
                  "the state follows biases, prompt or parameters that were only lent to it");
  return findings.outcome();
}

// A long sequence with a window, counted anew at every step.
Outcome follows_a_long_history(Subject& subject) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  std::mt19937 random = subject.random("history");
  Findings findings;
  for (const int32_t window : {-1, 1, 7, 64}) {
    Parameters parameters = greedy_parameters();
    parameters.repetition_penalty = 1.3F;
    parameters.presence_penalty = 0.4F;
    parameters.frequency_penalty = 0.1F;
    parameters.penalty_window = window;
    Circumstances circumstances{{{}, {}}, {}, {}};
    History& history = circumstances.history;
    for (int i = 0; i < 20; i++)
      history.prompt.push_back(static_cast<int32_t>(random() % kVocabulary));
    SamplerState state = sampler->state(parameters, history.prompt, 300);
    for (int step = 0; step < 300 && !findings.failed(); step++) {
      const std::vector<float> logits = reference::random_floats(kVocabulary, random, 1.0F);
      const int32_t token = sampler->sample_one({logits, state}).token;
      // Rounding may decide between two that are as good as equal.
      findings.expect(adjusted_row(logits, parameters, circumstances).behind_best(token) < 1e-5,
                      "with a penalty window of " + std::to_string(window) + ", token " +
                          std::to_string(token) + " is taken at step " + std::to_string(step) +
                          ", which is not the best after penalties");
      history.generated.push_back(static_cast<int32_t>(random() % kVocabulary));
      state.accept({history.generated.back()});
    }
  }
  return findings.outcome();
}

Outcome takes_larger_structs(Subject& subject) {
  auto sampler = SamplerSession::open(subject, 3);
  if (!sampler) return Outcome::failed(sampler.error().message);
  const SamplerState state = sampler->state(greedy_parameters());
  struct {
    halogen_sample_batch batch;
    uint8_t more[64];
  } newer{};
  std::memset(newer.more, 0xa5, sizeof newer.more);
  float logits[] = {0, 2, 1};
  halogen_sampling_state* states[] = {state.get()};
  const int32_t wanted[] = {-1};
  int32_t token = -2;
  float logprob = 0;
  newer.batch.struct_size = sizeof newer;
  newer.batch.n_rows = 1;
  newer.batch.vocabulary_size = 3;
  newer.batch.logits_stride = 3;
  newer.batch.logits = logits;
  newer.batch.states = states;
  newer.batch.n_top_logprobs = wanted;
  newer.batch.tokens = &token;
  newer.batch.logprobs = &logprob;
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  const halogen_status status = sampler->factory().sample(sampler->get(), &newer.batch, &error);
  if (status != HALOGEN_OK)
    return Outcome::failed(std::string("a batch of a newer host is refused: ") + error.message);
  return token == 1 ? Outcome{} : Outcome::failed("a batch of a newer host gets another token");
}

}  // namespace

void add_state_cases(CaseList& list) {
  list.add("states/independent", true, states_are_independent);
  list.add("states/own-their-inputs", true, copies_its_inputs);
  list.add("states/long-history", true, follows_a_long_history);
  list.add("states/newer-host", true, takes_larger_structs);
}

}  // namespace halogen::check
