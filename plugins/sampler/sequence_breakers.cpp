#include "sequence_breakers.h"

#include <iterator>
#include <map>

namespace sampler {

namespace {

void sort_tokens(std::vector<int32_t>& tokens) {
  if (!std::is_sorted(tokens.begin(), tokens.end())) std::sort(tokens.begin(), tokens.end());
  tokens.shrink_to_fit();
}

}  // namespace

SequenceBreakers::SequenceBreakers(std::span<const int32_t> sequences) {
  std::map<std::vector<int32_t>, std::vector<int32_t>> groups;  // first tokens by reversed rest
  auto group = groups.end();
  auto first = sequences.begin();
  for (auto end = first; end != sequences.end(); ++end) {
    if (*end >= 0) continue;
    if (end - first == 1) {
      single_.push_back(*first);
    } else if (end - first > 1) {
      const std::reverse_iterator rest(end), rest_end(first + 1);
      if (group == groups.end() ||
          !std::equal(rest, rest_end, group->first.begin(), group->first.end()))
        group = groups.try_emplace({rest, rest_end}).first;
      group->second.push_back(*first);
    }
    first = end + 1;
  }
  sort_tokens(single_);
  several_.reserve(groups.size());
  for (auto& [rest, firsts] : groups) {
    sort_tokens(firsts);
    several_.push_back({rest, std::move(firsts)});
  }
}

bool SequenceBreakers::is_breaker(int32_t token) const {
  return std::binary_search(single_.begin(), single_.end(), token);
}

}  // namespace sampler
