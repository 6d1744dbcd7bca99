// In which order requests are served: all in which the policies differ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halogen/scheduler.h"

#include "costs.h"

namespace scheduler {

enum class Policy : uint8_t {
  shortest_first,  // the highest priority, of that the prompt with the least work left
  first_come,      // order of arrival; priorities count for nothing
  priority         // the highest priority, of that order of arrival
};

// Indices of a view's requests.
//
// Age is time since arrival, to which each level of priority adds half a minute (but for
// first_come); levels beyond 10 count as 10. So a request is younger than one of a higher priority
// for half a minute a level, and no longer.
class Order {
 public:
  explicit Order(Policy policy) : policy_(policy) {}

  // [device] May throw std::bad_alloc when there are more requests than ever before.
  void sort(const halogen_schedule_view& view, const Costs& costs);

  // Those that run, the oldest first.
  std::span<const uint32_t> running() const { return running_; }
  // Those with more than one token to compute, and those that wait, in order of service.
  std::span<const uint32_t> prompts() const { return prompts_; }
  // Position in prompts() of the oldest of them; 0 where there are none.
  uint32_t oldest() const { return oldest_; }
  // Whether request i has waited so long, for the work that it is, that it may hold others up.
  bool overdue(uint32_t i, uint64_t now_us) const;

 private:
  bool is_older(uint32_t a, uint32_t b) const;
  bool is_served_before(const halogen_schedule_view& view, uint32_t a, uint32_t b) const;

  const Policy policy_;
  std::vector<uint32_t> running_, prompts_;
  std::vector<int64_t> born_;  // by request: when it came, the head start of its priority taken off
  std::vector<double> work_;   // by request: microseconds until its first token, computed alone
  uint32_t oldest_ = 0;
};

}  // namespace scheduler
