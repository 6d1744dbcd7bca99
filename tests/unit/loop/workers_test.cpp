#include "core/loop/workers.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace halogen {
namespace {

TEST(Workers, DoTheWorkOnAnotherThreadAndReportOnTheLoop) {
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  Workers workers(**loop);
  std::thread::id worked_on;
  bool reported_on_loop = false;
  workers.run([&] { worked_on = std::this_thread::get_id(); },
              [&] {
                reported_on_loop = (*loop)->on_loop_thread();
                (*loop)->stop();
              });
  (*loop)->run();
  EXPECT_NE(worked_on, std::thread::id());
  EXPECT_NE(worked_on, std::this_thread::get_id());
  EXPECT_TRUE(reported_on_loop);
}

TEST(Workers, LeaveTheLoopFreeMeanwhile) {
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  Workers workers(**loop);
  std::promise<void> loop_answers;
  bool done = false;
  // The work waits for the loop: were it done on the loop, neither would ever end.
  workers.run([&] { loop_answers.get_future().wait(); },
              [&] {
                done = true;
                (*loop)->stop();
              });
  (*loop)->post([&] { loop_answers.set_value(); });
  (*loop)->run();
  EXPECT_TRUE(done);
}

TEST(Workers, FinishWaitsForAllThatIsLeftAndForWhatThatBegins) {
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  int reports = 0;
  {
    Workers workers(**loop);
    for (int i = 0; i < 20; i++) {
      workers.run([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); },
                  [&] {
                    if (++reports == 20) workers.run([] {}, [&] { reports++; });
                  });
    }
    workers.finish();
    EXPECT_EQ(reports, 21);
    workers.run([] {}, [&] { reports++; });
  }
  EXPECT_EQ(reports, 22) << "the destructor waits too";
}

}  // namespace
}  // namespace halogen
