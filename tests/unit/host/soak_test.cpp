// Many generations, one after another and from several threads at once, leave nothing behind.
#include "fixture.h"

namespace halogen::test {
namespace {

using Soak = HostTest;

TEST_F(Soak, TwoHundredGenerationsLeaveNothing) {
  install("v1");
  auto warm = host.load(PROBE_KIND, "probe");  // what the process allocates once
  ASSERT_TRUE(warm.ok());
  ASSERT_TRUE(host.unload(*warm).ok());

  const size_t descriptors = entries_of("/proc/self/fd");
  const size_t threads = entries_of("/proc/self/task");
  const size_t files = entries_of(folder.path().c_str());
  for (int i = 0; i < 200; ++i) {
    const bool second = i % 2 == 1;
    replace_library(i % 4 == 3 ? "leaks_thread" : second ? "v2" : "v1");
    auto handle = host.load(PROBE_KIND, "probe");
    ASSERT_TRUE(handle.ok()) << handle.error().message;
    ASSERT_EQ(probe(*handle).answer(), i % 4 == 3 ? 7 : second ? 2 : 1);
    const auto unloaded = host.unload(*handle);
    ASSERT_TRUE(unloaded.ok()) << unloaded.error().message;
    ASSERT_EQ(mapped_copies(), mapped_before);
  }
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries_of("/proc/self/task"), threads);
  EXPECT_EQ(entries_of(folder.path().c_str()), files);
  EXPECT_EQ(metrics.text(), "");
  EXPECT_TRUE(host.list().at(0).generations.empty());
}

TEST_F(Soak, GenerationsFromSeveralThreads) {
  install("v1");
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user)
    users.emplace_back([&, user] {
      for (int i = 0; i < 25; ++i) {
        auto handle = (i + user) % 3 == 0 ? host.load_fresh(PROBE_KIND, "probe")
                                          : host.load(PROBE_KIND, "probe");
        if (!handle || (*handle)->factory(PROBE_KIND) == nullptr) ++wrong;
        for (const auto& info : host.list())
          if (info.generations.empty()) ++wrong;  // ours, at least
      }
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(mapped_copies(), mapped_before);
}

}  // namespace
}  // namespace halogen::test
