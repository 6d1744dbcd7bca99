// Bytes: a plugin's manifest.
#include "core/host/manifest.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halogen;
  const auto manifest = parse_manifest(fuzz::text_of(data, size), "plugin.toml");
  if (!manifest) {
    const std::string& message = manifest.error().message;
    fuzz::require(message.starts_with("plugin.toml:"), "an error names the file", message);
    fuzz::require(fuzz::is_one_clean_line(message), "an error is one line of text", message);
    return 0;
  }
  fuzz::require(manifest->id.find('.') != std::string::npos, "an id has a dot", manifest->id);
  fuzz::require(!manifest->kinds.empty() && !manifest->library.empty(), "a manifest is complete");
  for (const std::string& kind : manifest->kinds) {
    fuzz::require(manifest->has_kind(kind) && !kind_word(kind).empty(), "a kind has a word", kind);
    const auto provided = manifest->provides.find(kind);
    fuzz::require(provided != manifest->provides.end() && !provided->second.empty(),
                  "every kind provides a name", kind);
  }
  return 0;
}
