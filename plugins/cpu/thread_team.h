// The backend's own threads, which run every step together: all of them walk the same list of
// operations and meet at a barrier after each, so that a step costs one wake-up and no task queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "halogen/host.h"

#include "plugins/cpu/futex.h"

namespace halogen::cpu {

// What all members of a team run; called once on each member for every job.
class TeamJob {
 public:
  virtual void run(unsigned member) = 0;

 protected:
  ~TeamJob() = default;
};

class ThreadTeam {
 public:
  // [worker] Starts `size` threads through the host. Null, with *error filled, when one cannot be
  // started.
  static std::unique_ptr<ThreadTeam> start(const halogen_host* host, unsigned size,
                                           halogen_error* error);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();  // waits for the job in progress

  unsigned size() const { return size_; }

  // [device] Starts a job and returns its ticket; the one before it must be done.
  uint32_t begin(TeamJob& job);
  // [device] Waits for the job; false when `timeout_us` microseconds pass before it ends.
  bool finish(uint32_t ticket, uint64_t timeout_us);

  // [device] Whether no job is in progress.
  bool idle() const { return finished_.get() == started_.get(); }
  // [any] The ticket of the newest job, and whether a job is done.
  uint32_t newest() const { return started_.get(); }
  bool done(uint32_t ticket) const {
    return static_cast<int32_t>(finished_.get() - ticket) >= 0;  // tickets wrap
  }
  // [worker] Waits for the job in progress, if there is one.
  void drain() { finish(started_.get(), UINT64_MAX); }

  // Inside a job: returns when every member has called it.
  void meet();

 private:
  struct Member {
    ThreadTeam* team;
    unsigned index;
  };
  ThreadTeam(const halogen_host* host, unsigned size) : host_(host), size_(size) {}
  void serve(unsigned member);

  const halogen_host* host_;
  unsigned size_;
  std::vector<Member> members_;
  std::vector<halogen_thread*> threads_;
  TeamJob* job_ = nullptr;
  bool stopping_ = false;
  // Each counter on a cache line of its own: all members look at them.
  alignas(64) Counter started_;                   // jobs begun
  alignas(64) Counter finished_;                  // jobs done
  alignas(64) std::atomic<uint32_t> arrived_{0};  // members at the barrier
  alignas(64) Counter phase_;                     // barriers passed
};

}  // namespace halogen::cpu
