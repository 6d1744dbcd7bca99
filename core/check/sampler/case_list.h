// The cases of samplers, in the files that add them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

// A body gets the subject and fails through its findings or by throwing.
class CaseList {
 public:
  using Body = std::function<Outcome(Subject&)>;

  explicit CaseList(std::vector<Case>& cases) : cases_(cases) {}
  void add(const std::string& name, bool quick, Body run) {
    cases_.push_back({"sampler", name, std::move(run), quick, std::chrono::seconds(60)});
  }
  // What the contract has since ABI 1.1: unsupported by a plugin that was built with older headers,
  // or that says so of the parameters.
  void add_since_1_1(const std::string& name, bool quick, Body run);

 private:
  std::vector<Case>& cases_;
};

void add_state_cases(CaseList& list);
void add_stage_cases(const Options& options, CaseList& list);
void add_sequence_cases(const Options& options, CaseList& list);
void add_refusals(CaseList& list);

}  // namespace halogen::check
