// A backend's numbers beside the reference's.
#pragma once

#include <span>
#include <string>

#include "core/check/backend/session.h"
#include "core/check/case.h"
#include "core/check/reference/tensor.h"

namespace halogen::check {

// Puts outputs together over the steps of a case.
class Comparison {
 public:
  // `what` names the output for a sentence: "hidden", "logits of step 2".
  void add(const std::string& what, const reference::Tensor& expected, std::span<const float> got);
  // Failed with the element that is furthest beyond its bound; the measure is the relative RMS
  // error of all elements, the share that of the worst element's bound.
  Outcome outcome() const;
  // Failed where the relative RMS error is above `limit`; bounds of elements do not count.
  Outcome within(double limit) const;

 private:
  double relative_rms() const;

  double squared_errors_ = 0, squares_ = 0, worst_ = 0;
  std::string worst_sentence_;
  std::string mismatch_;  // of the numbers of elements; empty: none
};

// Runs the steps on a program made from `graph` and on the reference.
Outcome compare_steps(const BackendSession& session, const TestGraph& graph,
                      const ProgramSizes& sizes, std::span<const StepArrays> steps,
                      reference::Precision precision);

// A random step of one sequence from position 0 whose rows are all wanted.
StepArrays plain_step(TestGraph& graph, uint32_t tokens, const ProgramSizes& sizes);
std::vector<int32_t> random_tokens(TestGraph& graph, size_t count);

}  // namespace halogen::check
