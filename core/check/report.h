// The report of a run, for people and for a bug, and the same as JSON.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/check/suite.h"

namespace halogen::check {

struct ReportHead {
  std::string version;                  // of halogen
  std::string plugin;                   // as it was named on the command line
  std::vector<std::string> introduced;  // by the plugin
  std::vector<std::string> folders;     // of manifests, as they were named
};

class Report {
 public:
  Report(ReportHead head, const Options& options);

  void add(const Judged& judged);

  size_t count(Verdict verdict) const;
  size_t size() const { return judged_.size(); }
  // The kinds of which no case passed or failed, so that nothing is known of them.
  std::vector<std::string> unjudged_kinds() const;

  // The head: what was checked, on what, how.
  std::string head() const;
  // A line for each group of cases, all failures with the command that repeats each, and the sum.
  // `every_case`: a line for each case instead.
  std::string body(bool every_case, std::chrono::duration<double> took) const;
  std::string json(std::chrono::duration<double> took) const;

 private:
  std::string repeat_command(const std::string& case_name) const;

  ReportHead head_;
  const Options& options_;
  std::vector<Judged> judged_;
};

}  // namespace halogen::check
