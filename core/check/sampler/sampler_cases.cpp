#include "core/check/sampler/sampler_cases.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "core/check/reference/random_weights.h"
#include "core/check/sampler/expected.h"
#include "core/check/sampler/session.h"

namespace halogen::check {
namespace {

using Parameters = halogen_sampling_parameters;
using Tokens = std::vector<int32_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t kVocabulary = 50;

// Collects the cases; a body gets the subject and fails through its findings or by throwing.
class List {
 public:
  explicit List(std::vector<Case>& cases) : cases_(cases) {}
  void add(const std::string& name, bool quick, std::function<Outcome(Subject&)> run) {
    cases_.push_back({"sampler", name, std::move(run), quick, std::chrono::seconds(60)});
  }

 private:
  std::vector<Case>& cases_;
};

std::vector<float> random_row(Subject& subject, const std::string& name, size_t size,
                              float spread = 2.0F) {
  std::mt19937 random = subject.random(name);
  return reference::random_floats(size, random, spread);
}

std::string text(const char* format, double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// --- the largest --------------------------------------------------------------------------------

Outcome takes_the_largest(Subject& subject, uint32_t size, size_t rows) {
  auto sampler = SamplerSession::open(subject, size);
  if (!sampler) return Outcome::failed(sampler.error().message);
  std::mt19937 random = subject.random("greedy" + std::to_string(size));
  std::vector<std::vector<float>> logits;
  std::vector<SamplerState> states;
  std::vector<SampleRow> batch;
  for (size_t i = 0; i < rows; i++) {
    logits.push_back(reference::random_floats(size, random, 3.0F));
    // Ties of the largest in every other row.
    if (i % 2 == 1) {
      const float most = *std::max_element(logits[i].begin(), logits[i].end());
      for (int j = 0; j < 3; j++) logits[i][random() % size] = most;
    }
    states.push_back(sampler->state(greedy_parameters()));
  }
  for (size_t i = 0; i < rows; i++) batch.push_back({logits[i], states[i]});
  const std::vector<Chosen> chosen = sampler->sample(batch);
  for (size_t i = 0; i < rows; i++) {
    const auto best = std::max_element(logits[i].begin(), logits[i].end()) - logits[i].begin();
    if (chosen[i].token != best)
      return Outcome::failed("row " + std::to_string(i) + ": token " +
                             std::to_string(chosen[i].token) + " is taken where " +
                             std::to_string(best) + " is the first of the largest logits");
  }
  return {};
}

// --- distributions ------------------------------------------------------------------------------

struct Distribution {
  Parameters parameters = plain_parameters();
  std::vector<halogen_logit_bias> biases;
  History history{{0}, {}};
  std::vector<uint32_t> mask;  // empty: none
};

// The first token of many seeds, in batches; each with the same history.
Outcome follows(Subject& subject, const std::string& name, Distribution d, size_t draws) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  const std::vector<float> logits = random_row(subject, "row of " + name, kVocabulary);
  d.parameters.biases = d.biases.data();
  d.parameters.n_biases = static_cast<uint32_t>(d.biases.size());
  const std::vector<uint32_t>* mask = d.mask.empty() ? nullptr : &d.mask;
  const std::vector<double> expected =
      probabilities(adjusted_logits(logits, d.parameters, d.history, mask), d.parameters);

  std::vector<size_t> counts(kVocabulary);
  constexpr size_t kRows = 100;
  for (size_t first = 0; first < draws; first += kRows) {
    std::vector<SamplerState> states;
    std::vector<SampleRow> rows;
    for (size_t i = 0; i < kRows; i++) {
      d.parameters.seed = subject.options().seed * 1000003 + first + i;
      states.push_back(sampler->state(d.parameters, d.history.prompt));
      states.back().accept(d.history.generated);
    }
    for (size_t i = 0; i < kRows; i++) rows.push_back({logits, states[i], mask});
    for (const Chosen& chosen : sampler->sample(rows)) {
      if (chosen.token < 0 || chosen.token >= static_cast<int32_t>(kVocabulary))
        return Outcome::failed("token " + std::to_string(chosen.token) + " is drawn");
      counts[static_cast<size_t>(chosen.token)]++;
    }
  }
  for (size_t token = 0; token < kVocabulary; token++) {
    if (expected[token] == 0 && counts[token] > 0)
      return Outcome::failed("token " + std::to_string(token) +
                             " is drawn, which these parameters exclude");
  }
  Outcome outcome;
  outcome.share = chi_squared_share(counts, expected);
  outcome.measure = "chi-squared";
  if (outcome.share <= 1) return outcome;
  size_t worst = 0;
  const auto excess = [&](size_t token) {
    const double mean = static_cast<double>(draws) * expected[token];
    return mean > 0 ? std::fabs(static_cast<double>(counts[token]) - mean) / std::sqrt(mean) : 0;
  };
  for (size_t token = 0; token < kVocabulary; token++)
    if (excess(token) > excess(worst)) worst = token;
  outcome.verdict = Verdict::fail;
  outcome.sentence = "chi-squared is " + text("%.3g", outcome.share) +
                     " times what chance explains; token " + std::to_string(worst) + " came " +
                     std::to_string(counts[worst]) + " times of " + std::to_string(draws) +
                     " where " + text("%.1f", static_cast<double>(draws) * expected[worst]) +
                     " are expected";
  return outcome;
}

void add_distributions(const Options& options, List& list) {
  const size_t draws = options.quick ? 4000 : 20000;
  const auto add = [&](const std::string& name, bool quick, auto change) {
    Distribution d;
    change(d);
    list.add("distribution/" + name, quick,
             [name, d, draws](Subject& subject) { return follows(subject, name, d, draws); });
  };
  for (const float temperature : {0.3F, 1.0F, 2.5F})
    add("temperature-" + text("%g", temperature), true,
        [&](Distribution& d) { d.parameters.temperature = temperature; });
  for (const int32_t k : {1, 3, 40, 1000})
    add("top_k-" + std::to_string(k), k == 3, [&](Distribution& d) { d.parameters.top_k = k; });
  for (const float p : {0.0F, 0.3F, 0.9F, 0.999F})
    add("top_p-" + text("%g", p), p == 0.9F, [&](Distribution& d) { d.parameters.top_p = p; });
  for (const float p : {0.02F, 0.2F, 1.0F})
    add("min_p-" + text("%g", p), p == 0.2F, [&](Distribution& d) { d.parameters.min_p = p; });
  add("top_k-and-temperature", false, [](Distribution& d) {
    d.parameters.top_k = 5;
    d.parameters.temperature = 3;
  });
  const History history{{1, 2, 2, 3}, {4, 4, 4, 2, 5}};
  add("repetition_penalty", true, [&](Distribution& d) {
    d.history = history;
    d.parameters.repetition_penalty = 1.7F;
  });
  add("presence_penalty", true, [&](Distribution& d) {
    d.history = history;
    d.parameters.presence_penalty = 1.3F;
  });
  add("frequency_penalty", true, [&](Distribution& d) {
    d.history = history;
    d.parameters.frequency_penalty = 0.6F;
  });
  add("negative-penalties", false, [&](Distribution& d) {
    d.history = history;
    d.parameters.presence_penalty = -0.5F;
    d.parameters.frequency_penalty = -0.25F;
    d.parameters.repetition_penalty = 0.8F;
  });
  add("penalty_window", true, [&](Distribution& d) {
    d.history = history;
    d.parameters.penalty_window = 3;
    d.parameters.repetition_penalty = 1.5F;
    d.parameters.frequency_penalty = 0.7F;
  });
  add("penalty_window-off", false, [&](Distribution& d) {
    d.history = history;
    d.parameters.penalty_window = 0;
    d.parameters.repetition_penalty = 2;
    d.parameters.presence_penalty = 2;
  });
  add("logit_bias", true,
      [](Distribution& d) { d.biases = {{0, 2.0F}, {7, -1.5F}, {11, -100.0F}, {49, -1000.0F}}; });
  add("mask", true, [](Distribution& d) { d.mask = {0x80000001U, 0x00020001U}; });
  add("mask-of-one", false, [](Distribution& d) { d.mask = {0, 1U << 17}; });
  add("penalties-bias-and-mask", false, [&](Distribution& d) {
    d.history = history;
    d.parameters.presence_penalty = 0.5F;
    d.parameters.repetition_penalty = 1.2F;
    d.biases = {{4, 1.0F}};
    d.mask = {0xfff0ffffU, 0x0003ffffU};
  });
}

// --- seeds --------------------------------------------------------------------------------------

// Tokens of a sequence whose row stands among `others` that come and go.
Tokens drawn(const SamplerSession& sampler, const std::vector<float>& logits, uint64_t seed,
             size_t others, size_t count) {
  Parameters parameters = plain_parameters();
  parameters.seed = seed;
  SamplerState ours = sampler.state(parameters);
  std::vector<SamplerState> company;
  for (size_t i = 0; i < others; i++) {
    parameters.seed = 900 + i;
    parameters.temperature = 0.5F + static_cast<float>(i);
    company.push_back(sampler.state(parameters));
  }
  Tokens tokens;
  for (size_t step = 0; step < count; step++) {
    std::vector<SampleRow> rows;
    const size_t place = step % (others + 1);
    for (size_t i = 0; i < others; i++) {
      if (i == place) rows.push_back({logits, ours});
      rows.push_back({logits, company[i]});
    }
    if (place == others) rows.push_back({logits, ours});
    tokens.push_back(sampler.sample(rows)[place].token);
    ours.accept({tokens.back()});
  }
  return tokens;
}

Outcome with_row(
    Subject& subject,
    const std::function<Outcome(const SamplerSession&, const std::vector<float>&)>& run) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  return run(*sampler, random_row(subject, "seeds", kVocabulary, 1.0F));
}

void add_seeds(List& list) {
  list.add("seed/same-tokens", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      Findings findings;
      findings.expect(drawn(s, logits, 5, 0, 60) == drawn(s, logits, 5, 0, 60),
                      "the same seed gives other tokens the second time");
      return findings.outcome();
    });
  });
  list.add("seed/other-tokens", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      Findings findings;
      for (const uint64_t other : {uint64_t{6}, uint64_t{5} << 32})
        findings.expect(drawn(s, logits, 5, 0, 60) != drawn(s, logits, other, 0, 60),
                        "the seeds 5 and " + std::to_string(other) + " give the same 60 tokens");
      return findings.outcome();
    });
  });
  list.add("seed/in-any-batch", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      Findings findings;
      const Tokens alone = drawn(s, logits, 5, 0, 60);
      for (const size_t others : {size_t{1}, size_t{7}, size_t{63}})
        findings.expect(alone == drawn(s, logits, 5, others, 60),
                        "a sequence draws other tokens beside " + std::to_string(others) +
                            " others than alone");
      return findings.outcome();
    });
  });
  list.add("seed/advances-with-accept", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      Parameters parameters = plain_parameters();
      parameters.seed = 12;
      Findings findings;
      SamplerState state = s.state(parameters);
      const int32_t first = s.sample_one({logits, state}).token;
      for (int i = 0; i < 20; i++)
        findings.expect(s.sample_one({logits, state}).token == first,
                        "sampling again without an accept draws another token");
      // However the tokens were accepted, the same number of them leads to the same draw.
      SamplerState other = s.state(parameters);
      other.accept({1, 2, 3});
      for (const int32_t token : {1, 2, 3}) state.accept({token});
      findings.expect(s.sample_one({logits, state}).token == s.sample_one({logits, other}).token,
                      "three tokens accepted one by one lead to another draw than three at once");
      return findings.outcome();
    });
  });
  list.add("seed/successive-draws", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      std::vector<size_t> counts(kVocabulary);
      for (const int32_t token : drawn(s, logits, 77, 0, 5000))
        counts[static_cast<size_t>(token)]++;
      Outcome outcome;
      outcome.share = chi_squared_share(
          counts, probabilities({logits.begin(), logits.end()}, plain_parameters()));
      outcome.measure = "chi-squared";
      if (outcome.share > 1) {
        outcome.verdict = Verdict::fail;
        outcome.sentence =
            "the successive draws of one seed do not follow the distribution: "
            "chi-squared is " +
            text("%.3g", outcome.share) + " times what chance explains";
      }
      return outcome;
    });
  });
}

// --- rows with nothing to choose, and odd numbers
// -------------------------------------------------

Outcome expect_tokens(Subject& subject, const std::vector<std::vector<float>>& logits,
                      const std::vector<const std::vector<uint32_t>*>& masks,
                      const std::vector<Parameters>& parameters, const Tokens& expected) {
  auto sampler = SamplerSession::open(subject, static_cast<uint32_t>(logits[0].size()));
  if (!sampler) return Outcome::failed(sampler.error().message);
  std::vector<SamplerState> states;
  std::vector<SampleRow> rows;
  for (const Parameters& each : parameters) states.push_back(sampler->state(each));
  for (size_t i = 0; i < logits.size(); i++)
    rows.push_back({logits[i], states[i], masks.empty() ? nullptr : masks[i]});
  const std::vector<Chosen> chosen = sampler->sample(rows);
  Findings findings;
  for (size_t i = 0; i < expected.size(); i++)
    findings.expect(chosen[i].token == expected[i], "row " + std::to_string(i) + " gets token " +
                                                        std::to_string(chosen[i].token) +
                                                        " and not " + std::to_string(expected[i]));
  return findings.outcome();
}

void add_odd_rows(List& list) {
  const Parameters plain = plain_parameters(), greedy = greedy_parameters();
  list.add("nothing-possible/mask", true, [=](Subject& subject) {
    const std::vector<uint32_t> none = {0};
    return expect_tokens(subject, {{1, 2, 3}, {1, 2, 3}, {3, 9, 3}}, {&none, &none, nullptr},
                         {plain, greedy, greedy}, {-1, -1, 1});
  });
  list.add("nothing-possible/not-a-number", true, [=](Subject& subject) {
    return expect_tokens(subject, {{kNan, kNan, kNan}, {kNan, -kInfinity, kNan}, {7, 0, 0}}, {},
                         {greedy, plain, greedy}, {-1, -1, 0});
  });
  list.add("nothing-possible/minus-infinity", true, [=](Subject& subject) {
    return expect_tokens(subject, {{-kInfinity, -kInfinity}, {-kInfinity, -kInfinity}}, {},
                         {greedy, plain}, {-1, -1});
  });
  list.add("nothing-possible/banned-by-bias", true, [=](Subject& subject) {
    const halogen_logit_bias biases[] = {{0, -100}, {1, -200}};
    Parameters banned = plain;
    banned.biases = biases;
    banned.n_biases = 2;
    return expect_tokens(subject, {{5, 6}, {5, 6}}, {}, {banned, greedy}, {-1, 1});
  });
  list.add("odd-numbers/not-a-number-is-impossible", true, [=](Subject& subject) {
    return expect_tokens(subject, {{kNan, -3, kNan}, {kNan, kNan, -1e30F}}, {}, {plain, greedy},
                         {1, 2});
  });
  list.add("odd-numbers/infinity-is-largest", true, [=](Subject& subject) {
    return expect_tokens(subject, {{0, kInfinity, 1e30F}, {3, 2, kInfinity}}, {}, {plain, greedy},
                         {1, 2});
  });
  list.add("odd-numbers/huge-differences", true, [=](Subject& subject) {
    Parameters cold = plain;
    cold.temperature = 1e-6F;
    return expect_tokens(subject, {{-3e38F, 3e38F, 0}, {0, 1, 2}}, {}, {plain, cold}, {1, 2});
  });
  list.add("odd-numbers/minus-infinity-beside-others", true, [=](Subject& subject) {
    return expect_tokens(subject, {{-kInfinity, 0, -kInfinity}}, {}, {plain}, {1});
  });
}

// --- log-probabilities ---------------------------------------------------------------------------

Outcome tells_logprobs(Subject& subject, float spread) {
  auto sampler = SamplerSession::open(subject, 1000);
  if (!sampler) return Outcome::failed(sampler.error().message);
  // What changes the choice must not change what is told of the model.
  Parameters parameters = plain_parameters();
  parameters.temperature = 0.7F;
  parameters.repetition_penalty = 1.5F;
  const halogen_logit_bias bias{3, 4.0F};
  parameters.biases = &bias;
  parameters.n_biases = 1;
  Outcome outcome;
  outcome.measure = "log-probabilities";
  for (int round = 0; round < 8; round++) {
    const std::vector<float> logits =
        random_row(subject, "logprobs" + std::to_string(round), 1000, spread);
    const std::vector<double> expected = log_probabilities(logits);
    std::vector<float> sorted = logits;
    std::sort(sorted.rbegin(), sorted.rend());
    const SamplerState state = sampler->state(parameters, {1, 2, 3});
    const Chosen chosen = sampler->sample_one({logits, state, nullptr, 7});
    const auto check = [&](const std::string& what, int32_t token, float logprob) {
      if (token < 0 || token >= 1000) {
        outcome = Outcome::failed(what + " is token " + std::to_string(token));
        return;
      }
      const double right = expected[static_cast<size_t>(token)];
      const double share = std::fabs(logprob - right) / (1e-5 + 2e-7 * std::fabs(right));
      outcome.share = std::max(outcome.share, std::isfinite(share) ? share : 1e30);
      if (share <= 1 || outcome.verdict == Verdict::fail) return;
      outcome.verdict = Verdict::fail;
      outcome.sentence = what + " has " + text("%.9g", logprob) + " where " + text("%.9g", right) +
                         " is right, from the unchanged logits";
    };
    check("the chosen token", chosen.token, chosen.logprob);
    for (size_t i = 0; i < chosen.top_tokens.size(); i++) {
      const std::string what = "number " + std::to_string(i) + " of the best";
      check(what, chosen.top_tokens[i], chosen.top_logprobs[i]);
      if (outcome.verdict == Verdict::fail) return outcome;
      if (logits[static_cast<size_t>(chosen.top_tokens[i])] != sorted[i])
        return Outcome::failed(what + " is token " + std::to_string(chosen.top_tokens[i]) +
                               ", which is not in that place");
    }
    if (outcome.verdict == Verdict::fail) return outcome;
  }
  return outcome;
}

Outcome mixes_wishes_for_logprobs(Subject& subject) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  const std::vector<float> logits = random_row(subject, "mixed", kVocabulary);
  const std::vector<double> expected = log_probabilities(logits);
  const SamplerState a = sampler->state(greedy_parameters()),
                     b = sampler->state(greedy_parameters()),
                     c = sampler->state(greedy_parameters());
  const auto chosen =
      sampler->sample({{logits, a, nullptr, -1}, {logits, b, nullptr, 0}, {logits, c, nullptr, 4}});
  Findings findings;
  for (const size_t row : {size_t{1}, size_t{2}})
    findings.expect(
        std::fabs(chosen[row].logprob - expected[static_cast<size_t>(chosen[row].token)]) < 1e-5,
        "row " + std::to_string(row) + " has no right log-probability");
  findings.expect(chosen[2].top_tokens[0] == chosen[0].token,
                  "the best of four is not what greedy rows take");
  return findings.outcome();
}

// --- states -------------------------------------------------------------------------------------

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
    History history;
    for (int i = 0; i < 20; i++)
      history.prompt.push_back(static_cast<int32_t>(random() % kVocabulary));
    SamplerState state = sampler->state(parameters, history.prompt, 300);
    for (int step = 0; step < 300 && !findings.failed(); step++) {
      const std::vector<float> logits = reference::random_floats(kVocabulary, random, 1.0F);
      const std::vector<double> adjusted = adjusted_logits(logits, parameters, history, nullptr);
      const auto best = std::max_element(adjusted.begin(), adjusted.end());
      const int32_t token = sampler->sample_one({logits, state}).token;
      // Rounding may decide between two that are as good as equal.
      findings.expect(token >= 0 && adjusted[static_cast<size_t>(token)] > *best - 1e-5,
                      "with a penalty window of " + std::to_string(window) + ", token " +
                          std::to_string(token) + " is taken at step " + std::to_string(step) +
                          " where " + std::to_string(best - adjusted.begin()) + " is best");
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

// --- refusals -----------------------------------------------------------------------------------

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

Outcome refuses(Subject& subject, const Refusal& refusal) {
  auto sampler = SamplerSession::open(subject, 8);
  if (!sampler) return Outcome::failed(sampler.error().message);
  Parameters parameters = plain_parameters();
  refusal.change(parameters);
  Findings findings;
  const std::string what = std::string(refusal.parameter) + " = " + refusal.value;
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  halogen_status status = sampler->factory().check(&parameters, &error);
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

Outcome refuses_foreign_tokens(Subject& subject, bool bias) {
  auto sampler = SamplerSession::open(subject, 8);
  if (!sampler) return Outcome::failed(sampler.error().message);
  Findings findings;
  for (const int32_t token : {8, -1, 1 << 30}) {
    const halogen_logit_bias one{token, 1.0F};
    Parameters parameters = plain_parameters();
    parameters.presence_penalty = 1;
    parameters.biases = &one;
    parameters.n_biases = bias ? 1 : 0;
    halogen_sampling_state* state = nullptr;
    halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
    const halogen_status status = sampler->factory().state_create(
        sampler->get(), &parameters, &token, bias ? 0 : 1, 4, &state, &error);
    const std::string what = std::string(bias ? "a bias" : "a prompt") + " of token " +
                             std::to_string(token) + " in a vocabulary of 8";
    findings.expect(status != HALOGEN_OK, what + " is accepted");
    findings.expect(std::strstr(error.message, std::to_string(token).c_str()) != nullptr,
                    what + " is refused without its number: " + error.message);
    if (status == HALOGEN_OK) sampler->factory().state_destroy(state);
  }
  return findings.outcome();
}

}  // namespace

void add_sampler_cases(const Options& options, std::vector<Case>& cases) {
  List list(cases);
  for (const uint32_t size : {1U, 2U, 31U, 32U, 33U, 1000U, 50000U})
    list.add("greedy/vocabulary-" + std::to_string(size), size < 2000, [size](Subject& subject) {
      return takes_the_largest(subject, size, size > 2000 ? 4 : 64);
    });
  add_distributions(options, list);
  add_seeds(list);
  add_odd_rows(list);
  for (const float spread : {1.0F, 30.0F})
    list.add("logprobs/spread-" + text("%g", spread), true,
             [spread](Subject& subject) { return tells_logprobs(subject, spread); });
  list.add("logprobs/mixed-wishes", true, mixes_wishes_for_logprobs);
  list.add("states/independent", true, states_are_independent);
  list.add("states/own-their-inputs", true, copies_its_inputs);
  list.add("states/long-history", true, follows_a_long_history);
  list.add("states/newer-host", true, takes_larger_structs);
  for (const Refusal& refusal : kRefusals)
    list.add(std::string("refuses/") + refusal.parameter + "=" + refusal.value, true,
             [&refusal](Subject& subject) { return refuses(subject, refusal); });
  list.add("refuses/bias-of-no-token", true,
           [](Subject& subject) { return refuses_foreign_tokens(subject, true); });
  list.add("refuses/prompt-of-no-token", true,
           [](Subject& subject) { return refuses_foreign_tokens(subject, false); });
}

}  // namespace halogen::check
