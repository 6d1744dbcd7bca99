// SentencePiece's unigram model ("t5" vocabularies: T5, XLM-RoBERTa): of all ways to cut the text
// into tokens, the one with the greatest sum of scores, found with Viterbi's algorithm. Source:
// Kudo 2018 (arXiv 1804.10959).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/character_map.h"
#include "core/text/fragment_encoder.h"
#include "core/text/recent_words.h"
#include "core/text/trie.h"

namespace halogen::text {

class UnigramEncoder final : public FragmentEncoder {
 public:
  // From a completed vocabulary. HALOGEN_E_INVALID for a damaged character map.
  static Result<std::unique_ptr<FragmentEncoder>> create(const Vocabulary& vocabulary);

  // A run of characters that no token has becomes one unknown token, or its bytes where the
  // vocabulary has a token for each; or nothing without either. Fails with HALOGEN_E_INVALID when
  // the normalised text grows past 1 GiB.
  Status encode(std::string_view fragment, bool text_start,
                std::vector<TokenId>& out) const override;

 private:
  // The best way to a place in the word.
  struct Step {
    double score;
    uint32_t begin;  // of the last token
    TokenId id;      // kNoToken: an unknown character
  };

  // What is needed while one fragment is encoded.
  struct Work {
    RecentWords recent;
    size_t first;  // where the fragment's ids begin in `out`
    std::vector<TokenId>& out;
    std::vector<Step> steps = {};     // by place in the word
    std::vector<uint32_t> path = {};  // where the word's tokens end, last first

    bool ends_with(TokenId id) const { return out.size() > first && out.back() == id; }
  };

  UnigramEncoder(const Vocabulary& vocabulary, CharacterMap character_map);

  Result<std::string> normalized(std::string_view fragment, bool text_start) const;
  void encode_word(std::string_view word, Work& work) const;
  uint32_t find_best_steps(std::string_view word, double score, std::vector<Step>& steps) const;
  void append_path(std::string_view word, Work& work) const;
  void append_unknown(std::string_view character, Work& work) const;

  CharacterMap character_map_;
  Trie tokens_;
  std::vector<float> scores_;
  double unknown_score_ = 0;
  std::array<TokenId, 256> byte_tokens_;
  bool has_bytes_ = false;
  TokenId unknown_;
  SpacePrefix prefix_;
  bool remove_extra_spaces_;
  bool words_start_with_space_ = true;
};

}  // namespace halogen::text
