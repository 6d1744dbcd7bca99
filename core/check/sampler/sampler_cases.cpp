#include "core/check/sampler/sampler_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check/reference/random_weights.h"
#include "core/check/sampler/case_list.h"
#include "core/check/sampler/draws.h"

namespace halogen::check {

void CaseList::add_since_1_1(const std::string& name, bool quick, Body run) {
  add(name, quick, [run = std::move(run)](Subject& subject) -> Outcome {
    const std::optional<unsigned> minor = subject.abi_minor();
    if (!minor) return Outcome::failed(subject.error());
    if (*minor < 1)
      return Outcome::unsupported("the plugin was built with the headers of ABI 1." +
                                  std::to_string(*minor) + "; this came with 1.1");
    try {
      return run(subject);
    } catch (const Refused& refused) {
      if (refused.status == HALOGEN_E_UNSUPPORTED) return Outcome::unsupported(refused.what());
      throw;
    }
  });
}

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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

void add_distributions(const Options& options, CaseList& list) {
  const size_t draws = options.quick ? 4000 : 20000;
  const auto add = [&](const std::string& name, bool quick, auto change) {
    Distribution d;
    change(d);
    list.add("distribution/" + name, quick,
             [name, d, draws](Subject& subject) { return follows(subject, name, d, draws); });
  };
  for (const float temperature : {0.3F, 1.0F, 2.5F})
    add("temperature-" + number_text("%g", temperature), true,
        [&](Distribution& d) { d.parameters.temperature = temperature; });
  for (const int32_t k : {1, 3, 40, 1000})
    add("top_k-" + std::to_string(k), k == 3, [&](Distribution& d) { d.parameters.top_k = k; });
  for (const float p : {0.0F, 0.3F, 0.9F, 0.999F})
    add("top_p-" + number_text("%g", p), p == 0.9F,
        [&](Distribution& d) { d.parameters.top_p = p; });
  for (const float p : {0.02F, 0.2F, 1.0F})
    add("min_p-" + number_text("%g", p), p == 0.2F,
        [&](Distribution& d) { d.parameters.min_p = p; });
  add("top_k-and-temperature", false, [](Distribution& d) {
    d.parameters.top_k = 5;
    d.parameters.temperature = 3;
  });
  const History history{{1, 2, 2, 3}, {4, 4, 4, 2, 5}};
  add("repetition_penalty", true, [&](Distribution& d) {
    d.circumstances.history = history;
    d.parameters.repetition_penalty = 1.7F;
  });
  add("presence_penalty", true, [&](Distribution& d) {
    d.circumstances.history = history;
    d.parameters.presence_penalty = 1.3F;
  });
  add("frequency_penalty", true, [&](Distribution& d) {
    d.circumstances.history = history;
    d.parameters.frequency_penalty = 0.6F;
  });
  add("negative-penalties", false, [&](Distribution& d) {
    d.circumstances.history = history;
    d.parameters.presence_penalty = -0.5F;
    d.parameters.frequency_penalty = -0.25F;
    d.parameters.repetition_penalty = 0.8F;
  });
  add("penalty_window", true, [&](Distribution& d) {
    d.circumstances.history = history;
    d.parameters.penalty_window = 3;
    d.parameters.repetition_penalty = 1.5F;
    d.parameters.frequency_penalty = 0.7F;
  });
  add("penalty_window-off", false, [&](Distribution& d) {
    d.circumstances.history = history;
    d.parameters.penalty_window = 0;
    d.parameters.repetition_penalty = 2;
    d.parameters.presence_penalty = 2;
  });
  add("logit_bias", true,
      [](Distribution& d) { d.biases = {{0, 2.0F}, {7, -1.5F}, {11, -100.0F}, {49, -1000.0F}}; });
  add("mask", true, [](Distribution& d) { d.circumstances.mask = {0x80000001U, 0x00020001U}; });
  add("mask-of-one", false, [](Distribution& d) { d.circumstances.mask = {0, 1U << 17}; });
  add("penalties-bias-and-mask", false, [&](Distribution& d) {
    d.circumstances.history = history;
    d.parameters.presence_penalty = 0.5F;
    d.parameters.repetition_penalty = 1.2F;
    d.biases = {{4, 3.0F}};
    d.circumstances.mask = {0xfff0ffffU, 0x0003ffffU};
  });
}

// --- seeds --------------------------------------------------------------------------------------

Parameters seeded(uint64_t seed) {
  Parameters parameters = plain_parameters();
  parameters.seed = seed;
  return parameters;
}

Outcome with_row(
    Subject& subject,
    const std::function<Outcome(const SamplerSession&, const std::vector<float>&)>& run) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  return run(*sampler, random_row(subject, "seeds", kVocabulary, 1.0F));
}

void add_seeds(CaseList& list) {
  list.add("seed/same-tokens", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      Findings findings;
      findings.expect(drawn(s, logits, seeded(5), {}, 60) == drawn(s, logits, seeded(5), {}, 60),
                      "the same seed gives other tokens the second time");
      return findings.outcome();
    });
  });
  list.add("seed/other-tokens", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      Findings findings;
      for (const uint64_t other : {uint64_t{6}, uint64_t{5} << 32})
        findings.expect(
            drawn(s, logits, seeded(5), {}, 60) != drawn(s, logits, seeded(other), {}, 60),
            "the seeds 5 and " + std::to_string(other) + " give the same 60 tokens");
      return findings.outcome();
    });
  });
  list.add("seed/in-any-batch", true, [](Subject& subject) {
    return with_row(subject, [](const SamplerSession& s, const std::vector<float>& logits) {
      Findings findings;
      const Tokens alone = drawn(s, logits, seeded(5), {}, 60);
      for (const size_t others : {size_t{1}, size_t{7}, size_t{63}})
        findings.expect(alone == drawn(s, logits, seeded(5), company(seeded(5), others), 60),
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
      for (const int32_t token : drawn(s, logits, seeded(77), {}, 5000))
        counts.at(static_cast<size_t>(token))++;
      return judge_counts(counts, probabilities(logits, plain_parameters()));
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

void add_odd_rows(CaseList& list) {
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
      outcome.sentence = what + " has " + number_text("%.9g", logprob) + " where " +
                         number_text("%.9g", right) + " is right, from the unchanged logits";
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

}  // namespace

void add_sampler_cases(const Options& options, std::vector<Case>& cases) {
  CaseList list(cases);
  for (const uint32_t size : {1U, 2U, 31U, 32U, 33U, 1000U, 50000U})
    list.add("greedy/vocabulary-" + std::to_string(size), size < 2000, [size](Subject& subject) {
      return takes_the_largest(subject, size, size > 2000 ? 4 : 64);
    });
  add_distributions(options, list);
  add_seeds(list);
  add_odd_rows(list);
  for (const float spread : {1.0F, 30.0F})
    list.add("logprobs/spread-" + number_text("%g", spread), true,
             [spread](Subject& subject) { return tells_logprobs(subject, spread); });
  list.add("logprobs/mixed-wishes", true, mixes_wishes_for_logprobs);
  add_state_cases(list);
  add_stage_cases(options, list);
  add_sequence_cases(options, list);
  add_refusals(list);
}

}  // namespace halogen::check
