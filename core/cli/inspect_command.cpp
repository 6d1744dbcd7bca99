#include <iostream>

#include "core/cli/commands.h"
#include "core/cli/runtime.h"
#include "core/host/inspection_report.h"

namespace halogen::cli {

int inspect(const InspectArguments& arguments) {
  const auto inspection = inspect_plugin(arguments.file, arguments.manifest);
  if (!inspection) return report(inspection.error());
  std::cout << (arguments.json ? inspection_json(*inspection) : inspection_text(*inspection));
  return inspection->refused() ? kFailure : kSuccess;
}

}  // namespace halogen::cli
