#include "core/check/sampler/sampler_cases.h"
namespace halogen::check {
void add_sampler_cases(const Options&, std::vector<Case>&) {}
}  // namespace halogen::check
