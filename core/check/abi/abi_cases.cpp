#include "core/check/abi/abi_cases.h"
namespace halogen::check {
void add_abi_cases(const Options&, std::vector<Case>&) {}
std::vector<std::string> abi_introduction(Subject&) {
  return {};
}
}  // namespace halogen::check
