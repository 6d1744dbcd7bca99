// Vocabularies of a few hundred tokens, one of each kind that the tokenizer reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/text/tokenizer.h"

namespace halogen::fuzz {

struct SmallTokenizer {
  std::string name;
  std::unique_ptr<text::Tokenizer> tokenizer;
  bool keeps_text;  // decoding gives back exactly what was encoded
};

const std::vector<SmallTokenizer>& small_tokenizers();

}  // namespace halogen::fuzz
