// Loading, sharing, replacing and unloading.
#include <unistd.h>

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

TEST_F(Generation, CodeUnderARunningThreadStaysMapped) {
  int release[2];
  ASSERT_EQ(pipe(release), 0);
  setenv("PROBE_RELEASE_FD", std::to_string(release[0]).c_str(), 1);
  install("stuck_thread");
  const size_t threads = entries_of("/proc/self/task");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  const auto status = host.unload(*handle);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().status, HALOGEN_E_BUSY);
  EXPECT_EQ(status.error().message,
            "plugin 'org.example.probe' generation 1 stays resident: its threads \"probe-worker\" "
            "still run after 0.3 s");
  EXPECT_GT(mapped_copies(), mapped_before);
  const auto list = host.list();
  ASSERT_EQ(list.at(0).generations.size(), 1u);
  EXPECT_EQ(list[0].generations[0].state, GenerationState::resident);
  EXPECT_EQ(list[0].generations[0].why_resident,
            "its threads \"probe-worker\" still run after 0.3 s");

  install("v1");
  auto good = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(probe(*good).answer(), 1);

  ASSERT_EQ(write(release[1], "x", 1), 1);  // the thread ends, in code that is still there
  while (entries_of("/proc/self/task") > threads) std::this_thread::yield();
  close(release[1]);  // the other end stays open: the thread was given up, nobody joins it
}

TEST_F(Generation, PinnedObjectIsReportedResident) {
  install("pinned");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  const auto status = host.unload(*handle);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "plugin 'org.example.probe' generation 1 stays resident: " + library().string() +
                " stays mapped after it was closed: it is linked with -z "
                "nodelete");
  EXPECT_GT(mapped_copies(), mapped_before);
  install("v2");
  auto good = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(probe(*good).answer(), 2);
}

}  // namespace
}  // namespace halogen::test
