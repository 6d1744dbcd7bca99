#include "core/check/backend/operator_cases.h"
namespace halogen::check {
void add_contract_cases(CaseList& cases) {
  (void)cases;
}
}  // namespace halogen::check
