// Bytes: a profile in TOML.
#include "tests/fuzz/profile_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halogen;
  static fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  const auto profile = fuzz::load_file(file);
  if (profile) {
    fuzz::check_profile_survives_printing(*profile);
  } else {
    fuzz::check_refusal(profile.error().message);
    fuzz::require(profile.error().message.find(file.path()) != std::string::npos,
                  "an error names the file", profile.error().message);
  }
  return 0;
}
