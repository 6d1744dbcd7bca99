// Test support: the vocabulary of a Hugging Face tokenizer.json, as far as the golden tokenizers
// go.
#pragma once

#include <filesystem>
#include <optional>

#include "core/text/vocabulary.h"

namespace halogen::text::testing {

// Nothing when the file is missing.
std::optional<Vocabulary> read_tokenizer_json(const std::filesystem::path& path);

}  // namespace halogen::text::testing
