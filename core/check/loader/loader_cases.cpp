#include "core/check/loader/loader_cases.h"
namespace halogen::check {
void add_loader_cases(const Options&, std::vector<Case>&) {}
}  // namespace halogen::check
