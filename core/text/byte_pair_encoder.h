// Byte-level BPE ("gpt2" vocabularies): text is split into words by regular expressions, each word
// starts as its bytes, and the vocabulary's merges join them, best rank first.
// Source: Sennrich et al. 2016 (arXiv 1508.07909); Radford et al. 2019 for the bytes.
#pragma once

#include <array>
#include <memory>

#include "core/text/fragment_encoder.h"
#include "core/text/known_words.h"
#include "core/text/merge.h"
#include "core/text/splitter.h"
#include "core/text/token_index.h"

namespace halogen::text {

class BytePairEncoder final : public FragmentEncoder {
 public:
  // From a completed vocabulary. pieces[id]: the bytes of each token, borrowed for the encoder's
  // life. A merge whose parts or result are not tokens can never yield one and is left out.
  static Result<std::unique_ptr<FragmentEncoder>> create(
      const Vocabulary& vocabulary, const std::vector<std::string_view>& pieces);

  // A byte that the vocabulary has no token for becomes its unknown token, or nothing without one.
  Status encode(std::string_view fragment, bool text_start,
                std::vector<TokenId>& out) const override;

 private:
  BytePairEncoder(const Vocabulary& vocabulary, const std::vector<std::string_view>& pieces,
                  Splitter splitter);

  void encode_word(std::string_view word, Merger& merger, std::vector<TokenId>& out) const;

  Splitter splitter_;
  TokenIndex words_;  // normal tokens by their bytes
  KnownWords known_words_;
  MergeTable merges_;
  std::array<TokenId, 256> byte_tokens_{};
  TokenId unknown_;
  bool ignore_merges_;
  bool normalize_;
};

}  // namespace halogen::text
