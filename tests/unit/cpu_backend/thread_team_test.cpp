#include "plugins/cpu/thread_team.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/host_threads.h"

namespace halogen::cpu {
namespace {

// Every member adds to a sum in each round and sees, behind the barrier, what all have added.
class Rounds final : public TeamJob {
 public:
  Rounds(ThreadTeam& team, unsigned rounds) : team_(team), rounds_(rounds) {}

  void run(unsigned member) override {
    for (unsigned round = 1; round <= rounds_; round++) {
      sum_ += member + 1;
      team_.meet();
      const unsigned all = team_.size() * (team_.size() + 1) / 2;
      if (sum_ != round * all) wrong_++;
      team_.meet();
    }
  }

  std::atomic<unsigned> sum_{0}, wrong_{0};

 private:
  ThreadTeam& team_;
  unsigned rounds_;
};

TEST(ThreadTeam, NobodyPassesABarrierBeforeAllHaveCome) {
  for (const unsigned size : {1U, 2U, 5U}) {
    const auto team = ThreadTeam::start(&halogen::test::host_threads(), size, nullptr);
    ASSERT_TRUE(team);
    for (unsigned jobs = 0; jobs < 20; jobs++) {
      Rounds job(*team, 100);
      ASSERT_TRUE(team->finish(team->begin(job), UINT64_MAX));
      EXPECT_TRUE(team->idle());
      EXPECT_EQ(job.wrong_, 0U);
      EXPECT_EQ(job.sum_, 100 * size * (size + 1) / 2);
    }
  }
}

// Long enough for all others to go to sleep.
class SlowMember final : public TeamJob {
 public:
  explicit SlowMember(ThreadTeam& team) : team_(team) {}
  void run(unsigned member) override {
    while (member == 0 && !release_) std::this_thread::yield();
    team_.meet();
    passed_++;
  }
  std::atomic<bool> release_{false};
  std::atomic<unsigned> passed_{0};

 private:
  ThreadTeam& team_;
};

TEST(ThreadTeam, WhoSleepsAtABarrierIsWoken) {
  const auto team = ThreadTeam::start(&halogen::test::host_threads(), 3, nullptr);
  ASSERT_TRUE(team);
  SlowMember job(*team);
  const uint32_t ticket = team->begin(job);
  EXPECT_FALSE(team->finish(ticket, 20'000));
  EXPECT_FALSE(team->idle());
  EXPECT_EQ(job.passed_, 0U);
  job.release_ = true;
  EXPECT_TRUE(team->finish(ticket, UINT64_MAX));
  EXPECT_EQ(job.passed_, 3U);
}

}  // namespace
}  // namespace halogen::cpu
