// Cuts text into words with a list of regular expressions, the first step of byte-level BPE: merges
// never cross a word's border. PCRE2 with its just-in-time compiler does the matching.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace halogen::text {

class Splitter {
 public:
  // Compiles the patterns; \s and \S mean Unicode's White_Space. A pattern that PCRE2 refuses is
  // HALOGEN_E_INVALID with its reason.
  static Result<Splitter> create(std::span<const std::string> patterns);

  Splitter(Splitter&&) noexcept;
  Splitter& operator=(Splitter&&) noexcept;
  ~Splitter();

  // [any] Appends to `ends` where each word of `text` ends (byte offsets, rising, the last one
  // text.size()). Each expression cuts every piece that the one before left into its matches and
  // the gaps between them. A run of bytes that are not valid UTF-8 is a word of its own. `text`
  // must be shorter than 4 GiB. Fails with HALOGEN_E_INTERNAL when PCRE2 gives up.
  Status split(std::string_view text, std::vector<uint32_t>& ends) const;

 private:
  struct Compiled;
  explicit Splitter(std::unique_ptr<Compiled> compiled);

  std::unique_ptr<Compiled> compiled_;
};

}  // namespace halogen::text
