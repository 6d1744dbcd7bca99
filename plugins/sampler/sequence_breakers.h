// Texts that end what may repeat, as token sequences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sampler {

// A text that can begin in many tokens gives many sequences that differ in their first token alone,
// so these are kept together: the memory is 4 bytes for each sequence, and a search takes time in
// proportion to the length of the longest and the logarithm of their number.
class SequenceBreakers {
 public:
  // Sequences one after the other, each followed by -1. Linear in their length where those that
  // share their rest follow each other and are in order of their first tokens.
  explicit SequenceBreakers(std::span<const int32_t> sequences);

  // Whether the token is a breaker by itself.
  bool is_breaker(int32_t token) const;

  // Whether a breaker of several tokens ends with the last token of a sequence whose token `back`
  // places before the end is at(back); there are `length` of them.
  template <typename At>
  bool ends_here(At at, size_t length) const;

 private:
  struct Group {
    std::vector<int32_t> rest;    // what follows the first token, reversed
    std::vector<int32_t> firsts;  // sorted
  };

  std::vector<int32_t> single_;  // sorted
  std::vector<Group> several_;   // in order of their rests, which are all different
};

template <typename At>
bool SequenceBreakers::ends_here(At at, size_t length) const {
  auto first = several_.begin(), last = several_.end();  // whose rests agree so far
  for (size_t back = 0; back + 1 < length && first != last; back++) {
    const int32_t token = at(back);
    first = std::partition_point(first, last, [=](const Group& g) { return g.rest[back] < token; });
    last = std::partition_point(first, last, [=](const Group& g) { return g.rest[back] == token; });
    if (first == last || first->rest.size() > back + 1) continue;
    if (std::binary_search(first->firsts.begin(), first->firsts.end(), at(back + 1))) return true;
    ++first;
  }
  return false;
}

}  // namespace sampler
