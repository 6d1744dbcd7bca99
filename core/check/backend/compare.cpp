#include "core/check/backend/compare.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "core/check/reference/evaluate.h"

namespace halogen::check {
namespace {

std::string number(double value, const char* format = "%.9g") {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Where a processor may flush to zero.
constexpr double kTiny = std::numeric_limits<float>::min();

}  // namespace

void Comparison::add(const std::string& what, const reference::Tensor& expected,
                     std::span<const float> got) {
  if (expected.values.size() != got.size()) {
    mismatch_ = what + " has " + std::to_string(got.size()) + " elements instead of " +
                std::to_string(expected.values.size());
    return;
  }
  for (size_t i = 0; i < got.size(); i++) {
    const double value = expected.values[i], bound = expected.errors[i] + kTiny;
    const double error = std::fabs(got[i] - value);
    // Not a number is as wrong as can be.
    const double share =
        std::isfinite(error / bound) ? error / bound : std::numeric_limits<double>::infinity();
    squared_errors_ += error * error;
    squares_ += value * value;
    if (share <= worst_) continue;
    worst_ = share;
    worst_sentence_ = what + ": row " + std::to_string(i / expected.width()) + ", element " +
                      std::to_string(i % expected.width()) + " is " + number(got[i]) + " where " +
                      number(value) + " ± " + number(bound, "%.2g") + " is right";
  }
}

double Comparison::relative_rms() const {
  return squares_ > 0 ? std::sqrt(squared_errors_ / squares_) : 0;
}

Outcome Comparison::within(double limit) const {
  if (!mismatch_.empty()) return Outcome::failed(mismatch_);
  Outcome outcome;
  const double rms = relative_rms();
  outcome.measure = "relative RMS " + number(rms, "%.1e");
  outcome.share = std::isfinite(rms) ? rms / limit : std::numeric_limits<double>::infinity();
  if (outcome.share <= 1) return outcome;
  outcome.verdict = Verdict::fail;
  outcome.sentence = "the relative RMS error is " + number(rms, "%.1e") + ", allowed are " +
                     number(limit, "%.1e") + "; " + worst_sentence_;
  return outcome;
}

Outcome Comparison::outcome() const {
  if (!mismatch_.empty()) return Outcome::failed(mismatch_);
  Outcome outcome;
  const double rms = relative_rms();
  outcome.measure = "relative RMS " + number(rms, "%.1e");
  outcome.share = worst_;
  if (worst_ <= 1) return outcome;
  outcome.verdict = Verdict::fail;
  outcome.sentence = worst_sentence_ + " (relative RMS error of all: " + number(rms, "%.1e") + ")";
  return outcome;
}

Outcome compare_steps(const BackendSession& session, const TestGraph& graph,
                      const ProgramSizes& sizes, std::span<const StepArrays> steps,
                      reference::Precision precision) {
  if (Outcome outcome = supported(session, graph.graph()); outcome.verdict != Verdict::pass)
    return outcome;
  TestProgram program(session, graph, sizes);
  if (auto created = program.create(); !created) return not_created(created.error(), sizes);
  reference::KvCache cache(program.geometry());
  Comparison comparison;
  for (size_t i = 0; i < steps.size(); i++) {
    const auto rows = program.run(steps[i]);
    if (!rows) return Outcome::failed(rows.error().message);
    const reference::Outputs expected = reference::evaluate(
        graph.graph(), graph.weights(), steps[i].step(nullptr, nullptr), cache, precision);
    const std::string step = steps.size() > 1 ? " of step " + std::to_string(i + 1) : "";
    comparison.add("logits" + step, expected.logits, rows->logits);
    comparison.add("output" + step, expected.hidden, rows->hidden);
  }
  return comparison.outcome();
}

std::vector<int32_t> random_tokens(TestGraph& graph, size_t count) {
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(graph.random()() % graph.vocabulary());
  return tokens;
}

StepArrays plain_step(TestGraph& graph, uint32_t tokens, const ProgramSizes& sizes) {
  const uint32_t blocks = (sizes.max_context + sizes.block_tokens - 1) / sizes.block_tokens;
  StepMaker maker(sizes.block_tokens, blocks, blocks_in_order(blocks));
  return maker.next({{0, random_tokens(graph, tokens)}});
}

}  // namespace halogen::check
