// Bytes: a command line, one argument in each line.
#include <vector>

#include "tests/fuzz/profile_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halogen;
  std::vector<std::string> arguments;
  for (std::string_view rest = fuzz::text_of(data, size); !rest.empty();) {
    const auto [line, next] = fuzz::split_once(rest, "\n");
    // Another file or a device could be read, and wait for ever.
    if (line.find("config") != std::string_view::npos) return 0;
    if (line.find("profile") != std::string_view::npos) return 0;
    arguments.emplace_back(line);
    rest = next;
  }
  const auto profile = load_profile(arguments, fuzz::no_environment(), "");
  if (profile) {
    fuzz::check_profile_survives_printing(*profile);
  } else {
    fuzz::check_refusal(profile.error().message);
  }
  return 0;
}
