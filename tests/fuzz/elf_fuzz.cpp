// Bytes: an ELF object, as somebody names it for a plugin.
#include <span>

#include "core/host/elf_traits.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halogen;
  const auto object = std::as_bytes(std::span(data, size));
  const auto reasons = reasons_to_stay_mapped(object);
  for (const std::string& reason : reasons) {
    fuzz::require(fuzz::is_one_clean_line(reason), "a reason is one line of text", reason);
  }
  fuzz::require(reasons.size() <= 3, "each reason is given once");
  return 0;
}
