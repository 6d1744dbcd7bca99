#include "row_team.h"

#include <algorithm>
#include <string>

namespace sampler {

std::unique_ptr<RowTeam> RowTeam::start(const halogen_host* host, unsigned size,
                                        uint32_t vocabulary_size, halogen_error* error) {
  std::unique_ptr<RowTeam> team(new RowTeam(host, vocabulary_size));
  team->helpers_.reserve(size);  // so that nothing fails between a thread's start and its keeping
  const auto run = [](void* helper) { static_cast<Helper*>(helper)->serve(); };
  for (unsigned i = 1; i < size && host != nullptr; i++) {
    auto helper = std::make_unique<Helper>(*team, vocabulary_size);
    const std::string name = "hg-sample-" + std::to_string(i);
    if (host->thread_start(host, name.c_str(), run, helper.get(), &helper->thread, error) !=
        HALOGEN_OK) {
      return nullptr;
    }
    team->helpers_.push_back(std::move(helper));
  }
  return team;
}

RowTeam::~RowTeam() {
  stopping_ = true;
  for (const auto& helper : helpers_) {
    helper->calls.fetch_add(1, std::memory_order_release);
    helper->calls.notify_one();
  }
  for (const auto& helper : helpers_) host_->thread_join(host_, helper->thread);
}

void RowTeam::sample(const halogen_sample_batch& batch) {
  if (batch.n_rows == 0) return;
  batch_ = &batch;
  next_row_.store(0, std::memory_order_relaxed);
  const auto called = std::min<uint32_t>(static_cast<uint32_t>(helpers_.size()), batch.n_rows - 1);
  at_work_.store(called, std::memory_order_relaxed);
  for (uint32_t i = 0; i < called; i++) {
    helpers_[i]->calls.fetch_add(1, std::memory_order_release);
    helpers_[i]->calls.notify_one();
  }
  take_rows(rows_);
  while (const uint32_t working = at_work_.load(std::memory_order_acquire))
    at_work_.wait(working, std::memory_order_acquire);
}

void RowTeam::take_rows(RowSampler& rows) {
  for (;;) {
    const uint32_t row = next_row_.fetch_add(1, std::memory_order_relaxed);
    if (row >= batch_->n_rows) return;
    rows.sample(*batch_, row);
  }
}

void RowTeam::Helper::serve() {
  for (uint32_t seen = 0;; seen++) {
    calls.wait(seen, std::memory_order_acquire);
    if (team.stopping_) return;
    team.take_rows(rows);
    if (team.at_work_.fetch_sub(1, std::memory_order_release) == 1) team.at_work_.notify_one();
  }
}

}  // namespace sampler
