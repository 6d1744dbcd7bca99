#include "plugins/cpu/thread_team.h"

#include <string>

namespace halogen::cpu {

std::unique_ptr<ThreadTeam> ThreadTeam::start(const halogen_host* host, unsigned size,
                                              halogen_error* error) {
  std::unique_ptr<ThreadTeam> team(new ThreadTeam(host, size));
  team->members_.reserve(size);
  for (unsigned i = 0; i < size; i++) {
    team->members_.push_back({team.get(), i});
    halogen_thread* thread = nullptr;
    const auto run = [](void* argument) {
      const auto* member = static_cast<const Member*>(argument);
      member->team->serve(member->index);
    };
    const std::string name = "hg-cpu-" + std::to_string(i);
    if (host->thread_start(host, name.c_str(), run, &team->members_.back(), &thread, error) !=
        HALOGEN_OK) {
      return nullptr;
    }
    team->threads_.push_back(thread);
  }
  return team;
}

ThreadTeam::~ThreadTeam() {
  drain();
  stopping_ = true;
  started_.advance();
  for (halogen_thread* thread : threads_) host_->thread_join(host_, thread);
}

uint32_t ThreadTeam::begin(TeamJob& job) {
  job_ = &job;
  return started_.advance();
}

bool ThreadTeam::finish(uint32_t ticket, uint64_t timeout_us) {
  // Jobs run one at a time, so that the only value before `ticket` is the one below it.
  return finished_.get() == ticket || finished_.sleep_while_equal(ticket - 1, timeout_us);
}

void ThreadTeam::meet() {
  const uint32_t phase = phase_.get();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.advance();
  } else {
    phase_.wait_while_equal(phase);
  }
}

void ThreadTeam::serve(unsigned member) {
  uint32_t seen = 0;
  for (;;) {
    started_.wait_while_equal(seen);
    seen++;
    if (stopping_) return;
    job_->run(member);
    meet();  // the last member's writes are visible to whoever finishes
    if (member == 0) finished_.advance();
  }
}

}  // namespace halogen::cpu
