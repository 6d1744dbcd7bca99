// The pre-tokenizers of byte-level BPE vocabularies by the names that GGUF files use. Each is a
// list of regular expressions, as the makers published them in their tokenizer.json: the first cuts
// the text into matches and the gaps between them, the next cuts those pieces further, and so on.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace halogen::text {

struct PreTokenizer {
  std::span<const char* const> patterns = {};  // applied one after the other
  bool ignore_merges = false;                  // defaults for a vocabulary that does not say
  bool add_bos = false;
  bool normalize_nfc = false;
  bool add_sep = false;     // one more separator between two texts
  bool characters = false;  // merges join characters, and spaces are U+2581: no byte-level alphabet
};

// [any] The pre-tokenizer of that name ("" is "default"), or null when the name is not known.
const PreTokenizer* find_pre_tokenizer(std::string_view name);

// [any] All known names, sorted and separated by ", ", for messages.
std::string pre_tokenizer_names();

}  // namespace halogen::text
