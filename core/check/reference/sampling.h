// Sampling by its formulae, in float64 and with full sorts: what a sampler is compared with.
// Written from the papers and docs/sampling.md, not from a sampler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "halogen/sampler.h"

namespace halogen::reference {

// The tokens that are still there, with their logits. Better first: larger logits, then lower ids.
// Every stage leaves at least one, if there was one.
class TokenRow {
 public:
  // What is no number or minus infinity is not there.
  explicit TokenRow(const std::vector<float>& logits);

  bool empty() const { return held_.empty(); }
  std::map<int32_t, double> probabilities() const;
  // By how much the token's logit is below the best one; infinity where the token is not there.
  double behind_best(int32_t token) const;

  // Keskar et al. 2019, "CTRL": away from the token, whatever its logit's sign.
  void divide(int32_t token, double penalty);
  void subtract(int32_t token, double penalty);

  void temperature(double t);
  // From t - range to t + range, by the entropy's share of its maximum, the logarithm of the count.
  void dynamic_temperature(double t, double range, double exponent);

  void top_k(size_t k);
  // Tang et al. 2024, "Top-n-sigma: not all logits are you need": logits from M - n sigma.
  void top_n_sigma(double n);
  // Holtzman et al. 2020, "The curious case of neural text degeneration".
  void top_p(double p);
  // Minh et al. 2024, "Turning up the heat: min-p sampling".
  void min_p(double share);
  // Meister et al. 2022, "Locally typical sampling".
  void typical_p(double tau);
  // Weidmann 2024, "Exclude Top Choices": all but the least of those from the threshold on.
  void xtc(double threshold);
  // Basu et al. 2021, version 2 of their implementation: surprises of at most `bits`.
  void mirostat(double bits);

 private:
  struct Held {
    int32_t token;
    double logit;
    bool operator<(const Held& other) const {
      return logit != other.logit ? logit > other.logit : token < other.token;
    }
  };

  template <typename Change>
  void change(int32_t token, Change to);
  std::vector<double> softmax() const;
  double entropy() const;
  void keep_until(double goal, const std::vector<double>& weights);

  std::vector<Held> held_;
};

// A stage with its value in `parameters`; nothing where it is off there. `excluding`: XTC happens.
// Penalties and DRY depend on what came before and are left to the caller.
void run_stage(TokenRow& row, uint32_t stage, const halogen_sampling_parameters& parameters,
               bool excluding);

// DRY by looking at every place: for each token, the longest match of the end of `context` that it
// followed (Weidmann 2024), if that has at least `allowed_length` tokens.
std::map<int32_t, uint32_t> dry_matches(const std::vector<int32_t>& context,
                                        uint32_t allowed_length, int32_t last_n,
                                        const std::vector<std::vector<int32_t>>& breakers);

// Everything off: temperature 1 over the whole vocabulary. The struct has the size of ABI 1.0, so
// that stages which came later are off as well.
halogen_sampling_parameters plain_parameters();
// The same with the members of ABI 1.1, their stages off.
halogen_sampling_parameters stages_off();

}  // namespace halogen::reference
