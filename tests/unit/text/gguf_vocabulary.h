// Test support: the vocabulary of a GGUF file, read with the least code that does it. The server's
// own reader is a plugin, which the core's tests do not need.
#pragma once

#include <filesystem>
#include <optional>

#include "core/text/vocabulary.h"

namespace halogen::text::testing {

// Nothing when the file is missing or is not a GGUF file.
std::optional<Vocabulary> read_gguf_vocabulary(const std::filesystem::path& path);

}  // namespace halogen::text::testing
