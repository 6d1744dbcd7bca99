// What the lists of operator cases share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/check/backend/compare.h"
#include "core/check/backend/session.h"
#include "core/check/case.h"

namespace halogen::check {

// One case in the making: an open backend, a graph, the sizes it runs with.
class OperatorCase {
 public:
  OperatorCase(Subject& subject, const BackendSession& session, std::string name)
      : subject_(subject), session_(session), name_(std::move(name)) {}

  // Starts the graph: how wide its hidden output is, and how many token ids there are.
  TestGraph& graph(uint32_t hidden_width, uint32_t vocabulary = 61);
  ProgramSizes& sizes() { return sizes_; }
  const BackendSession& session() const { return session_; }
  Subject& subject() { return subject_; }
  reference::Precision precision() const { return subject_.options().precision; }

  // A step of random tokens from position 0.
  StepArrays tokens(uint32_t count);
  // Ends the graph and compares the steps with the reference.
  Outcome compare(const std::vector<StepArrays>& steps);
  Outcome compare_tokens(uint32_t count) { return compare({tokens(count)}); }

 private:
  Subject& subject_;
  const BackendSession& session_;
  std::string name_;
  ProgramSizes sizes_;
  std::optional<TestGraph> graph_;
};

// Appends cases whose bodies get an open backend; where it cannot be opened they are skipped.
class CaseList {
 public:
  CaseList(std::vector<Case>& cases, std::shared_ptr<BackendSession> session)
      : cases_(cases), session_(std::move(session)) {}
  void add(std::string name, bool quick, std::function<Outcome(OperatorCase&)> body);

 private:
  std::vector<Case>& cases_;
  std::shared_ptr<BackendSession> session_;
};

void add_linear_cases(CaseList& cases);
void add_vector_cases(CaseList& cases);
void add_rope_cases(CaseList& cases);
void add_attend_cases(CaseList& cases);
void add_expert_cases(CaseList& cases);
void add_kv_cases(CaseList& cases);
void add_batch_cases(CaseList& cases);
void add_contract_cases(CaseList& cases);

}  // namespace halogen::check
