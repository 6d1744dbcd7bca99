#include "core/text/vocabulary_merges.h"

#include <string>
#include <string_view>

namespace halogen::text {

MergeTable vocabulary_merges(const Vocabulary& vocabulary, const TokenIndex& symbols) {
  MergeTable table(vocabulary.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const std::string_view merge = vocabulary.merges[rank];
    const size_t space = merge.find(' ', 1);  // a part may itself be a space in odd vocabularies
    if (space == std::string_view::npos) continue;
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    joined.assign(left).append(right);
    const TokenId left_id = symbols.find(left);
    const TokenId right_id = symbols.find(right);
    const TokenId result = symbols.find(joined);
    if (left_id == kNoToken || right_id == kNoToken || result == kNoToken) continue;
    table.add(left_id, right_id, {static_cast<uint32_t>(rank), result});
  }
  return table;
}

}  // namespace halogen::text
