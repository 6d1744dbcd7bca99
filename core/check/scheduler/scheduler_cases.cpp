#include "core/check/scheduler/scheduler_cases.h"
namespace halogen::check {
void add_scheduler_cases(const Options&, std::vector<Case>&) {}
}  // namespace halogen::check
