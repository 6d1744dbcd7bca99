// Loading, sharing, replacing and unloading.
#include <atomic>
#include <thread>
#include <vector>

#include "fixture.h"

namespace halogen::test {
namespace {

using Generation = HostTest;

TEST_F(Generation, LoadsByNameAndById) {
  install("v1");
  auto by_name = host.load(PROBE_KIND, "probe");
  auto by_id = host.load(PROBE_KIND, "org.example.probe");
  ASSERT_TRUE(by_name.ok() && by_id.ok());
  EXPECT_EQ(*by_name, *by_id);
  EXPECT_EQ((*by_name)->version(), "1.0.0");
  EXPECT_EQ(probe(*by_name).answer(), 1);
  EXPECT_EQ((*by_name)->factory("halogen.backend/1"), nullptr);
}

TEST_F(Generation, LastUserUnloads) {
  install("v1");
  auto first = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(first.ok());
  EXPECT_GT(mapped_copies(), mapped_before);
  PluginHandle second = *first;
  first->reset();
  EXPECT_GT(mapped_copies(), mapped_before);
  EXPECT_EQ(log.count("org.example.probe: goodbye from 1.0.0"), 0u);
  second.reset();
  EXPECT_EQ(mapped_copies(), mapped_before);
  EXPECT_EQ(log.count("org.example.probe: goodbye from 1.0.0"), 1u);
}

TEST_F(Generation, IsNotUnloadedUnderAnotherUser) {
  install("v1");
  auto first = host.load(PROBE_KIND, "probe");
  auto second = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto refused = host.unload(*first);
  EXPECT_EQ(refused.error().message,
            "plugin 'org.example.probe' cannot be unloaded yet; others use it: 1");
  EXPECT_EQ(probe(*first).answer(), 1);
  second->reset();
  EXPECT_TRUE(host.unload(*first).ok());
  EXPECT_EQ(*first, nullptr);
  EXPECT_EQ(mapped_copies(), mapped_before);
}

TEST_F(Generation, ReplacedFileIsLoadedBesideTheOldOne) {
  install("v1");
  auto old = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(probe(*old).answer(), 1);

  ProbeManifest manifest;
  manifest.version = "2.0.0";
  install("v2", manifest);
  auto shared = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(*shared, *old);  // nobody asked for the new file
  auto fresh = host.load_fresh(PROBE_KIND, "probe");
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ(probe(*fresh).answer(), 2);
  EXPECT_EQ(probe(*old).answer(), 1);
  EXPECT_EQ(probe(*old).calls(), 2);
  EXPECT_EQ(probe(*fresh).calls(), 1);
  EXPECT_GT((*fresh)->number(), (*old)->number());

  shared->reset();
  EXPECT_TRUE(host.unload(*old).ok());
  EXPECT_EQ(probe(*fresh).answer(), 2);
  auto current = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(current.ok());
  EXPECT_EQ(*current, *fresh);
}

TEST_F(Generation, FailedReplacementLeavesTheOldOne) {
  install("v1");
  auto old = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(old.ok());
  install("init_throws");
  EXPECT_FALSE(host.load_fresh(PROBE_KIND, "probe").ok());
  EXPECT_EQ(probe(*old).answer(), 1);
  auto current = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(current.ok());
  EXPECT_EQ(*current, *old);
}

TEST_F(Generation, LoadsWithoutSectionHeaders) {
  install("v1");
  folder.write("probe.so", without_section_headers(read_file(library())));
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok()) << handle.error().message;
  EXPECT_EQ(probe(*handle).answer(), 1);
}

TEST_F(Generation, StateOfAFreshCopyIsItsOwn) {
  install("v1");
  auto first = host.load(PROBE_KIND, "probe");
  auto second = host.load_fresh(PROBE_KIND, "probe");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(probe(*first).answer(), 1);
  EXPECT_EQ(probe(*first).calls(), 1);
  EXPECT_EQ(probe(*second).calls(), 0);
}

TEST_F(Generation, ManifestOfAnotherVersionIsLogged) {
  install("v2");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ((*handle)->version(), "2.0.0");
  EXPECT_EQ(log.count("has version 2.0.0, but its manifest says 1.0.0"), 1u);
}

// Its constructor waits until the loop has run something and the host has answered others.
TEST_F(Generation, SlowConstructorHoldsUpNobodyElse) {
  const Release release;
  install("slow_constructor");
  PluginHost patient({{{folder.path(), {}, "test"}}, std::chrono::seconds(60), {}}, metrics, loop);
  std::atomic<int> answer = 0;
  std::thread worker([&] {
    auto handle = patient.load(PROBE_KIND, "probe");
    if (handle) answer = probe(*handle).answer();
  });
  std::atomic<bool> ran{false};
  loop.post([](void* argument) { *static_cast<std::atomic<bool>*>(argument) = true; }, &ran);
  while (!ran) std::this_thread::yield();
  EXPECT_EQ(patient.list().size(), 1u);
  EXPECT_EQ(answer, 0);
  release.give();
  worker.join();
  EXPECT_EQ(answer, 9);
  EXPECT_EQ(log.count("plugin 'org.example.probe' (probe \"probe\"): took long to load: "), 1u);
}

TEST_F(Generation, StaticDestructorsFindTheServicesClosed) {
  install("late_caller");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  EXPECT_TRUE(host.unload(*handle).ok());
  static_assert(HALOGEN_E_CANCELLED == 8);
  EXPECT_EQ(
      log.count("org.example.probe: late: post 8, thread_start 8, log enabled 1, extension 0"), 1u);
  EXPECT_EQ(metrics.text(), "");
  EXPECT_EQ(mapped_copies(), mapped_before);
}

// Threads of the host that pause in turn, so that there is no moment at which none of them runs.
TEST_F(Generation, IsUnmappedWhileNewerThreadsOfTheHostAreBusy) {
  install("v1");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  constexpr unsigned kThreads = 4;
  std::atomic<unsigned> turn = 0;
  std::atomic<bool> stop = false;
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < kThreads; i++)
    busy.emplace_back([&, i] {
      while (!stop) {
        if (turn % kThreads != i) continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++turn;
      }
    });
  const auto unloaded = host.unload(*handle);
  stop = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_TRUE(unloaded.ok()) << unloaded.error().message;
  EXPECT_EQ(mapped_copies(), mapped_before);
}

TEST_F(Generation, LeftThreadIsJoinedAndNamed) {
  install("leaks_thread");
  const size_t threads = entries_of("/proc/self/task");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(entries_of("/proc/self/task"), threads + 1);
  EXPECT_TRUE(host.unload(*handle).ok());
  EXPECT_EQ(log.count("plugin 'org.example.probe' did not join its threads \"probe-worker\""), 1u);
  EXPECT_EQ(mapped_copies(), mapped_before);
}

}  // namespace
}  // namespace halogen::test
