#include "core/engine/repeated_work.h"

#include <algorithm>

namespace halogen {

namespace {

// Tokens that two texts have in common, if the first `known` are. Where hashes of whole beginnings
// are equal, so are the beginnings; should they differ nevertheless, a turn is lost and no more.
uint32_t common_tokens(const Sequence& a, const Sequence& b, uint32_t known,
                       uint32_t block_tokens) {
  const auto blocks = static_cast<uint32_t>(std::min(a.block_hashes.size(), b.block_hashes.size()));
  uint32_t same = known / block_tokens, differ = std::max(blocks, same + 1);
  while (differ - same > 1) {
    const uint32_t middle = same + (differ - same) / 2;
    (a.block_hashes[middle] == b.block_hashes[middle] ? same : differ) = middle;
  }
  const auto begin = static_cast<ptrdiff_t>(same) * block_tokens;
  const auto end = static_cast<ptrdiff_t>(
      std::min({size_t{same + 1} * block_tokens, a.tokens.size(), b.tokens.size()}));
  const auto mismatch =
      std::mismatch(a.tokens.begin() + begin, a.tokens.begin() + end, b.tokens.begin() + begin);
  return static_cast<uint32_t>(mismatch.first - a.tokens.begin());
}

}  // namespace

bool is_computed_by_another(const PlannedWork& later, std::span<const PlannedWork> earlier,
                            uint32_t block_tokens) {
  const Sequence& sequence = *later.sequence;
  const uint32_t block = later.computed / block_tokens;
  for (const PlannedWork& other : earlier) {
    // Only who stands in the same block can be about to compute the next tokens.
    if (other.sequence->root != sequence.root || other.computed / block_tokens != block) continue;
    if (other.sequence->block_hashes[block] != sequence.block_hashes[block]) continue;
    // What one that decodes has in its block can be found already.
    if (other.sequence->running && other.sequence->waiting() == 1) continue;
    // A block is found when it is full, or when its sequence has come to its end.
    uint32_t found = other.computed + other.tokens;
    if (found < other.sequence->tokens.size()) found -= found % block_tokens;
    found = std::min(found, static_cast<uint32_t>(sequence.tokens.size()) - 1);
    if (found <= later.computed || (found - later.computed) * 2 < later.tokens) continue;
    const uint32_t common = std::min(
        found, common_tokens(sequence, *other.sequence, block * block_tokens, block_tokens));
    if (common > later.computed && (common - later.computed) * 2 >= later.tokens) return true;
  }
  return false;
}

}  // namespace halogen
