#include "order.h"

#include <algorithm>

namespace scheduler {
namespace {

constexpr int32_t kMostPriority = 10;
constexpr int64_t kHeadStartUs = 30'000'000;  // of a level of priority
constexpr double kUnknownTokenUs = 1000;      // of a prompt, before one was measured
// A request is overdue after this, and as many times the work that it is.
constexpr double kPatienceUs = 500'000, kPatience = 8;

int32_t level(int32_t priority) {
  return std::clamp(priority, -kMostPriority, kMostPriority);
}

double work_of(const halogen_schedule_view& view, const Costs& costs, uint32_t i) {
  const double tokens = view.waiting_tokens[i];
  return costs.known() ? costs.prefill(view.computed_tokens[i], tokens) : tokens * kUnknownTokenUs;
}

}  // namespace

bool Order::is_older(uint32_t a, uint32_t b) const {
  return born_[a] != born_[b] ? born_[a] < born_[b] : a < b;  // the view is in order of arrival
}

bool Order::is_served_before(const halogen_schedule_view& view, uint32_t a, uint32_t b) const {
  if (policy_ != Policy::first_come && level(view.priorities[a]) != level(view.priorities[b]))
    return view.priorities[a] > view.priorities[b];
  if (policy_ == Policy::shortest_first && work_[a] != work_[b]) return work_[a] < work_[b];
  return is_older(a, b);
}

void Order::sort(const halogen_schedule_view& view, const Costs& costs) {
  born_.resize(view.n_requests);
  work_.resize(view.n_requests);
  running_.clear();
  prompts_.clear();
  for (uint32_t i = 0; i < view.n_requests; i++) {
    const int64_t levels = policy_ == Policy::first_come ? 0 : level(view.priorities[i]);
    born_[i] = static_cast<int64_t>(view.arrival_us[i]) - levels * kHeadStartUs;
    work_[i] = work_of(view, costs, i);
    const bool running = view.states[i] == HALOGEN_REQUEST_RUNNING;
    if (running) running_.push_back(i);
    if (!running || view.waiting_tokens[i] > 1) prompts_.push_back(i);
  }
  const auto older = [this](uint32_t a, uint32_t b) { return is_older(a, b); };
  std::sort(running_.begin(), running_.end(), older);
  std::sort(prompts_.begin(), prompts_.end(),
            [&](uint32_t a, uint32_t b) { return is_served_before(view, a, b); });
  oldest_ = static_cast<uint32_t>(std::min_element(prompts_.begin(), prompts_.end(), older) -
                                  prompts_.begin());
}

bool Order::overdue(uint32_t i, uint64_t now_us) const {
  const auto waited = static_cast<double>(static_cast<int64_t>(now_us) - born_[i]);
  return waited > kPatienceUs + kPatience * work_[i];
}

}  // namespace scheduler
