// What a sampler draws: how often from one row, and by which seed along a sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "halogen/sampler.h"

#include "core/check/case.h"
#include "core/check/sampler/expected.h"
#include "core/check/sampler/session.h"
#include "core/check/subject.h"

namespace halogen::check {

using Parameters = halogen_sampling_parameters;
using Tokens = std::vector<int32_t>;

// Of the rows of most cases.
inline constexpr uint32_t kVocabulary = 50;

std::vector<float> random_row(Subject& subject, const std::string& name, size_t size,
                              float deviation = 2.0F);
std::string number_text(const char* format, double value);

struct Distribution {
  Parameters parameters = plain_parameters();
  std::vector<halogen_logit_bias> biases;  // what the parameters point to
  std::vector<int32_t> dry_breakers;
  std::vector<uint32_t> stages;  // empty: the default
  bool no_stages = false;        // an order that names none
  Circumstances circumstances;

  // The parameters with pointers to the members here, which have to stay where they are.
  Parameters pointed() const;
};

// Whether the first tokens of many seeds, each after the same history, come as often as they
// should.
Outcome follows(Subject& subject, const std::string& name, const Distribution& distribution,
                size_t draws);

// The same verdict for counts that a case has taken itself.
Outcome judge_counts(const std::vector<size_t>& counts, const std::vector<double>& expected);

// The tokens of a sequence whose row stands among those of `others`, in another place at each step.
Tokens drawn(const SamplerSession& sampler, const std::vector<float>& logits,
             const Parameters& parameters, const std::vector<Parameters>& others, size_t count);

// Many others, of different seeds, temperatures and, where these parameters know them, stages.
std::vector<Parameters> company(const Parameters& parameters, size_t count);

}  // namespace halogen::check
