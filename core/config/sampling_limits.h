// What sampling parameters may be: the same bounds for the profile's defaults and for requests.
#pragma once

#include <cstddef>

namespace halogen {

struct NumberRange {
  double least = 0;
  double most = 0;
  bool above_least = false;  // `least` itself is out of range
};

}  // namespace halogen

// Wide enough for every client: OpenAI's own bounds are narrower (temperature 2), others' are not.
namespace halogen::sampling_limits {

inline constexpr double kMostTokens = 1 << 24;

inline constexpr NumberRange temperature{0, 5};
inline constexpr NumberRange dynatemp_range{0, 5};
inline constexpr NumberRange dynatemp_exponent{0, 10};
inline constexpr NumberRange top_k{-1, kMostTokens};
inline constexpr NumberRange probability{0, 1};  // top_p, min_p, typical_p, xtc_*
inline constexpr NumberRange top_n_sigma{-1, 100};
inline constexpr NumberRange repetition_penalty{0, 100, true};
inline constexpr NumberRange presence_penalty{-2, 2};
inline constexpr NumberRange frequency_penalty{-2, 2};
inline constexpr NumberRange last_n{-1, kMostTokens};  // repeat_last_n, dry_penalty_last_n
inline constexpr NumberRange dry_multiplier{0, 100};
inline constexpr NumberRange dry_base{1, 100};
inline constexpr NumberRange dry_allowed_length{0, kMostTokens};
inline constexpr NumberRange mirostat{0, 2};
inline constexpr NumberRange mirostat_tau{0, 100};
inline constexpr NumberRange mirostat_eta{0, 10};

// A breaker is looked for in the texts of all tokens.
inline constexpr std::size_t kMostDryBreakers = 16;
inline constexpr std::size_t kLongestDryBreaker = 32;  // bytes

inline constexpr const char* kNoMirostat1 =
    "mirostat 1 is not supported: use 2, which aims at the same surprise";

}  // namespace halogen::sampling_limits
