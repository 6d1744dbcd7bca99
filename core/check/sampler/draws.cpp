#include "core/check/sampler/draws.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "core/check/reference/random_weights.h"

namespace halogen::check {

std::vector<float> random_row(Subject& subject, const std::string& name, size_t size,
                              float deviation) {
  std::mt19937 random = subject.random(name);
  return reference::random_floats(size, random, deviation);
}

std::string number_text(const char* format, double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

Parameters Distribution::pointed() const {
  Parameters pointing = parameters;
  pointing.biases = biases.data();
  pointing.n_biases = static_cast<uint32_t>(biases.size());
  if (!HALOGEN_HAS(&parameters, reserved)) return pointing;
  pointing.dry_breakers = dry_breakers.data();
  pointing.n_dry_breakers = static_cast<uint32_t>(dry_breakers.size());
  static constexpr uint32_t kNone = 0;
  if (no_stages) pointing.stages = &kNone;
  if (!stages.empty()) pointing.stages = stages.data();
  pointing.n_stages = static_cast<uint32_t>(stages.size());
  return pointing;
}

Outcome judge_counts(const std::vector<size_t>& counts, const std::vector<double>& expected) {
  const size_t draws = std::accumulate(counts.begin(), counts.end(), size_t{0});
  size_t worst = 0;
  const auto excess = [&](size_t token) {
    const double mean = static_cast<double>(draws) * expected[token];
    return mean > 0 ? std::fabs(static_cast<double>(counts[token]) - mean) / std::sqrt(mean) : 0;
  };
  for (size_t token = 0; token < counts.size(); token++) {
    if (expected[token] == 0 && counts[token] > 0)
      return Outcome::failed("token " + std::to_string(token) +
                             " is drawn, which these parameters exclude");
    if (excess(token) > excess(worst)) worst = token;
  }
  Outcome outcome;
  outcome.share = chi_squared_share(counts, expected);
  outcome.measure = "chi-squared";
  if (outcome.share <= 1) return outcome;
  outcome.verdict = Verdict::fail;
  outcome.sentence = "chi-squared is " + number_text("%.3g", outcome.share) +
                     " times what chance explains; token " + std::to_string(worst) + " came " +
                     std::to_string(counts[worst]) + " times of " + std::to_string(draws) +
                     " where " + number_text("%.1f", static_cast<double>(draws) * expected[worst]) +
                     " are expected";
  return outcome;
}

Outcome follows(Subject& subject, const std::string& name, const Distribution& d, size_t draws) {
  auto sampler = SamplerSession::open(subject, kVocabulary);
  if (!sampler) return Outcome::failed(sampler.error().message);
  const std::vector<float> logits = random_row(subject, "row of " + name, kVocabulary);
  Parameters parameters = d.pointed();
  const Circumstances& c = d.circumstances;
  const std::vector<uint32_t>* mask = c.mask.empty() ? nullptr : &c.mask;
  const std::vector<double> expected = probabilities(logits, parameters, c);

  std::vector<size_t> counts(kVocabulary);
  constexpr size_t kRows = 100;
  for (size_t first = 0; first < draws; first += kRows) {
    std::vector<SamplerState> states;
    std::vector<SampleRow> rows;
    for (size_t i = 0; i < kRows; i++) {
      parameters.seed = subject.options().seed * 1000003 + first + i;
      states.push_back(sampler->state(parameters, c.history.prompt));
      states.back().accept(c.history.generated);
    }
    for (size_t i = 0; i < kRows; i++) rows.push_back({logits, states[i], mask});
    for (const Chosen& chosen : sampler->sample(rows)) {
      if (chosen.token < 0 || chosen.token >= static_cast<int32_t>(kVocabulary))
        return Outcome::failed("token " + std::to_string(chosen.token) + " is drawn");
      counts[static_cast<size_t>(chosen.token)]++;
    }
  }
  return judge_counts(counts, expected);
}

Tokens drawn(const SamplerSession& sampler, const std::vector<float>& logits,
             const Parameters& parameters, const std::vector<Parameters>& others, size_t count) {
  SamplerState ours = sampler.state(parameters);
  std::vector<SamplerState> states;
  for (const Parameters& other : others) states.push_back(sampler.state(other));
  Tokens tokens;
  for (size_t step = 0; step < count; step++) {
    std::vector<SampleRow> rows;
    const size_t place = step % (others.size() + 1);
    for (size_t i = 0; i < others.size(); i++) {
      if (i == place) rows.push_back({logits, ours});
      rows.push_back({logits, states[i]});
    }
    if (place == others.size()) rows.push_back({logits, ours});
    const std::vector<Chosen> chosen = sampler.sample(rows);
    for (size_t i = 0; i < others.size(); i++)
      states[i].accept({chosen[i < place ? i : i + 1].token});
    tokens.push_back(chosen[place].token);
    ours.accept({tokens.back()});
  }
  return tokens;
}

std::vector<Parameters> company(const Parameters& parameters, size_t count) {
  std::vector<Parameters> others;
  for (size_t i = 0; i < count; i++) {
    Parameters other = parameters;
    other.seed = 900 + i;
    other.temperature = 0.5F + static_cast<float>(i);
    if (HALOGEN_HAS(&parameters, reserved)) {
      other.mirostat = i % 3 == 0 ? 2 : 0;
      other.typical_p = i % 2 == 0 ? 0.3F : 1;
      other.xtc_probability = i % 4 == 1 ? 1 : 0;
      other.dry_multiplier = i % 5 == 2 ? 1 : 0;
    }
    others.push_back(other);
  }
  return others;
}

}  // namespace halogen::check
