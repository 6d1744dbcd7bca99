// The state of mirostat 2 (Basu et al. 2021, "Mirostat: a neural text decoding algorithm that
// directly controls perplexity"; version 2 is its authors' simplification without Zipf's law).
//
// Tokens whose surprise is above a limit are left out; after each token the limit moves against the
// difference between the token's surprise, among those that were left, and the one aimed at.
#pragma once

#include <cmath>
#include <cstdint>

namespace sampler {

class Mirostat {
 public:
  Mirostat(double tau, double eta) : tau_(tau), eta_(eta), limit_(2 * tau) {}

  // In bits.
  double limit() const { return limit_; }

  // The token that was drawn, and its probability among those within the limit. The limit stays
  // until the token is accepted.
  void drawn(int32_t token, double share) {
    token_ = token;
    next_limit_ = limit_ - eta_ * (-std::log2(share) - tau_);
  }

  // The token that was taken. Of one that was not drawn the surprise is not known, and the limit
  // stays as it is.
  void accept(int32_t token) {
    if (token == token_) limit_ = next_limit_;
    token_ = -1;
  }

 private:
  double tau_, eta_, limit_;
  double next_limit_ = 0;
  int32_t token_ = -1;
};

}  // namespace sampler
