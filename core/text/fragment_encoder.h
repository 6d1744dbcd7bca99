// What the two kinds of tokenizer have in common: they turn a fragment of text without special
// tokens into ids.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/text/vocabulary.h"

namespace halogen::text {

// Bytes from which on a text is refused, as it is given and as normalising makes it.
inline constexpr size_t kTextLimit = size_t{1} << 30U;

class FragmentEncoder {
 public:
  FragmentEncoder() = default;
  FragmentEncoder(const FragmentEncoder&) = delete;
  FragmentEncoder& operator=(const FragmentEncoder&) = delete;
  virtual ~FragmentEncoder() = default;

  // [any] Appends the ids of `fragment`. `text_start`: nothing, not even a special token, comes
  // before it.
  virtual Status encode(std::string_view fragment, bool text_start,
                        std::vector<TokenId>& out) const = 0;
};

}  // namespace halogen::text
