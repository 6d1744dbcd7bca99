// Every case there is, and running them one after the other in a child process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

// [any] The cases for the plugin's kinds (as its manifest has them) that the options choose.
// Nothing of the plugin is loaded for that.
std::vector<Case> cases_for(const Options& options);

// [any] HALOGEN_E_NOT_FOUND where a glob of `required` names no case of the plugin's kinds.
Status check_required(const Options& options);

struct Judged {
  std::string name;  // full
  Outcome outcome;
};

// [worker] Runs the cases in order, each within its limit, and tells of each as it ends. A case
// that crashes, hangs or ends the process has failed; the next one goes on in a new process. So has
// one that is required and was not judged. The plugin is loaded in the child processes alone.
Status run(const Options& options, const std::vector<Case>& cases,
           const std::function<void(const Judged&)>& judged);

// What the plugin says of itself, for the head of a report.
struct Introduction {
  std::vector<std::string> lines;  // version and licence, devices; none where it cannot be loaded
  std::string mistake;             // in the settings of the command line; empty: none
};
// [worker] From a child process that loads it.
Introduction introduce(const Options& options);

}  // namespace halogen::check
