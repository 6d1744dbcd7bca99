// Plugins whose code cannot be unmapped: they stay, it is told why, and the host goes on working.
#include "fixture.h"

namespace halogen::test {
namespace {

class Resident : public HostTest {
 protected:
  Resident() : HostTest(kShortPatience) {}

  // Why unloading the plugin leaves its code mapped, "FILE" standing for the library.
  std::string why_resident(PluginHandle& handle) {
    const std::string who =
        "plugin 'org.example.probe' generation " + std::to_string(handle->number());
    const auto status = host.unload(handle);
    EXPECT_FALSE(status.ok());
    if (status.ok()) return {};
    EXPECT_EQ(status.error().status, HALOGEN_E_BUSY);
    EXPECT_GT(mapped_copies(), mapped_before);
    const auto list = host.list();
    const auto& generation = list.at(0).generations.back();
    EXPECT_EQ(generation.state, GenerationState::resident);
    std::string why = generation.why_resident;
    EXPECT_EQ(status.error().message, who + " stays resident: " + why);
    const size_t at = why.find(library().string());
    if (at != std::string::npos) why.replace(at, library().string().size(), "FILE");
    expect_good();
    return why;
  }

  PluginHandle load(const char* built) {
    install(built);
    auto handle = host.load(PROBE_KIND, "probe");
    EXPECT_TRUE(handle.ok()) << handle.error().message;
    return *handle;
  }
};

// The threads that are given up end in code that is still there.
TEST_F(Resident, ThreadOfTheHostThatDoesNotEnd) {
  const Release release;
  const Census before;
  PluginHandle handle = load("stuck_thread");
  EXPECT_EQ(why_resident(handle), "its threads \"probe-worker\" still run after 0.3 s");
  release.give();
  while (entries_of("/proc/self/task") > before.threads) std::this_thread::yield();
}

TEST_F(Resident, ThreadThatItStartedPastTheHost) {
  const Census before;
  const std::pair<const char*, const char*> cases[] = {
      {"own_thread",
       "FILE stays mapped: threads that it did not start through the host still run in it: "},
      {"own_spinning_thread",
       "FILE stays mapped: these threads may run in it; they never paused and could not be looked "
       "at: "}};
  for (const auto& [built, why] : cases) {
    const Release release;
    PluginHandle handle = load(built);
    EXPECT_EQ(handle->factory_as<probe_factory>(PROBE_KIND)->answer(), 8);
    EXPECT_EQ(entries_of("/proc/self/task"), before.threads + 1);
    EXPECT_EQ(why_resident(handle), std::string(why) + "own-thread");
    release.give();
    while (entries_of("/proc/self/task") > before.threads) std::this_thread::yield();
  }
}

TEST_F(Resident, ThreadLocalObjectOfALivingThread) {
  PluginHandle handle = load("thread_local");
  EXPECT_EQ(probe(handle).answer(), 11);
  EXPECT_EQ(why_resident(handle),
            "FILE stays mapped after it was closed: it has thread_local objects with destructors, "
            "which hold it until the threads that used them end");
}

TEST_F(Resident, NotByAThreadLocalObjectOfAThreadThatHasEnded) {
  PluginHandle handle = load("thread_local");
  std::thread([&] { EXPECT_EQ(probe(handle).answer(), 11); }).join();
  EXPECT_TRUE(host.unload(handle).ok());
  EXPECT_EQ(mapped_copies(), mapped_before);
}

TEST_F(Resident, UniqueSymbol) {
  PluginHandle handle = load("unique");
  EXPECT_EQ(probe(handle).answer(), 12);
  EXPECT_EQ(why_resident(handle),
            "FILE stays mapped after it was closed: it defines a GNU_UNIQUE symbol (probe_unique); "
            "build it with -fno-gnu-unique");
}

TEST_F(Resident, LinkedForGood) {
  PluginHandle handle = load("pinned");
  EXPECT_EQ(why_resident(handle),
            "FILE stays mapped after it was closed: it is linked with -z nodelete");
}

}  // namespace
}  // namespace halogen::test
