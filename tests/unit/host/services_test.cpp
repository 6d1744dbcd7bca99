// What a plugin gets through its halogen_host table.
#include "core/host/services.h"

#include <pthread.h>

#include "fixture.h"

namespace halogen::test {
namespace {

class Services : public testing::Test {
 protected:
  CapturedLog log;
  MetricRegistry metrics;
  TestLoop loop;
  PluginServices services{"org.example.x", metrics, loop};
  const halogen_host* table = services.table();
};

TEST_F(Services, TableSaysWhatItIs) {
  EXPECT_EQ(table->struct_size, sizeof(halogen_host));
  EXPECT_EQ(table->abi_major, HALOGEN_ABI_MAJOR);
  EXPECT_EQ(table->abi_minor, HALOGEN_ABI_MINOR);
  EXPECT_EQ(table->extension(table, "halogen.nothing/1"), nullptr);
}

TEST_F(Services, LogLinesCarryTheId) {
  EXPECT_TRUE(table->log_enabled(table, HALOGEN_LOG_DEBUG));
  table->log(table, HALOGEN_LOG_WARNING, {"mind the gap\nreally", 19});
  EXPECT_EQ(log.count("warning org.example.x: mind the gap\\nreally"), 1u);
}

TEST_F(Services, MetricsAreShownUntilDropped) {
  auto* steps = table->metric_create(table, HALOGEN_METRIC_COUNTER, "steps_total", "Steps.",
                                     "device=\"0\",kind=\"a\\\"b\"");
  ASSERT_NE(steps, nullptr);
  table->metric_add(steps, 2);
  table->metric_add(nullptr, 2);
  EXPECT_EQ(metrics.text(),
            "# HELP halogen_steps_total Steps.\n# TYPE halogen_steps_total counter\n"
            "halogen_steps_total{device=\"0\",kind=\"a\\\"b\"} 2\n");
  EXPECT_EQ(table->metric_create(table, HALOGEN_METRIC_COUNTER, "steps_total", "Steps.",
                                 "device=\"0\",kind=\"a\\\"b\""),
            steps);
  services.drop_metrics();
  EXPECT_EQ(metrics.text(), "");
}

TEST_F(Services, MalformedMetricIsNullAndLogged) {
  EXPECT_EQ(table->metric_create(table, HALOGEN_METRIC_GAUGE, "no good", "", nullptr), nullptr);
  EXPECT_EQ(table->metric_create(table, HALOGEN_METRIC_COUNTER, "steps", "", nullptr), nullptr);
  EXPECT_EQ(table->metric_create(table, HALOGEN_METRIC_GAUGE, "good", "", "a=b"), nullptr);
  EXPECT_EQ(log.count("metric \"halogen_no good\": a name is made of letters"), 1u);
  EXPECT_EQ(log.count("metric \"halogen_steps\": the name of a counter ends in _total"), 1u);
  EXPECT_EQ(log.count("metric labels `a=b`: expected name=\"value\" at byte 0"), 1u);
}

TEST_F(Services, ThreadHasItsName) {
  std::string seen;
  halogen_thread* thread = nullptr;
  ASSERT_EQ(table->thread_start(
                table, "fifteen-letters",
                [](void* argument) {
                  char name[16] = "";
                  while (std::string(name) != "fifteen-letters")  // named by its starter
                    pthread_getname_np(pthread_self(), name, sizeof name);
                  *static_cast<std::string*>(argument) = name;
                },
                &seen, &thread, nullptr),
            HALOGEN_OK);
  table->thread_join(table, thread);
  EXPECT_EQ(seen, "fifteen-letters");
  table->thread_join(table, thread);
  EXPECT_EQ(log.count("thread_join got a handle that is not, or no longer, a thread"), 1u);
}

TEST_F(Services, ThreadNameIsChecked) {
  halogen_error error{};
  error.struct_size = sizeof error;
  halogen_thread* thread = nullptr;
  EXPECT_EQ(table->thread_start(
                table, "sixteen-letters-", [](void*) {}, nullptr, &thread, &error),
            HALOGEN_E_INVALID);
  EXPECT_STREQ(error.message,
               "a thread cannot be named \"sixteen-letters-\": a name has 1 to 15 bytes");
}

TEST_F(Services, ExceptionOfAThreadIsLogged) {
  halogen_thread* thread = nullptr;
  ASSERT_EQ(table->thread_start(
                table, "thrower", [](void*) { throw 1; }, nullptr, &thread, nullptr),
            HALOGEN_OK);
  table->thread_join(table, thread);
  EXPECT_EQ(log.count("plugin thread \"thrower\" ended with an exception"), 1u);
}

TEST_F(Services, PostedRunsOnTheLoopBeforeTheEnd) {
  struct Seen {
    TestLoop& loop;
    int runs = 0;
    bool on_loop = true;
  } seen{loop};
  loop.hold(true);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(table->post(
                  table,
                  [](void* argument) {
                    auto* self = static_cast<Seen*>(argument);
                    ++self->runs;
                    self->on_loop = self->on_loop && self->loop.on_loop_thread();
                  },
                  &seen),
              HALOGEN_OK);
  services.close();
  EXPECT_EQ(table->post(table, [](void*) {}, nullptr), HALOGEN_E_CANCELLED);
  halogen_thread* thread = nullptr;
  EXPECT_EQ(table->thread_start(
                table, "late", [](void*) {}, nullptr, &thread, nullptr),
            HALOGEN_E_CANCELLED);
  EXPECT_EQ(services.drain(std::chrono::milliseconds(20)), 100u);
  loop.hold(false);
  EXPECT_EQ(services.drain(std::chrono::seconds(60)), 0u);
  EXPECT_EQ(seen.runs, 100);
  EXPECT_TRUE(seen.on_loop);
}

#ifndef NDEBUG
TEST_F(Services, WorkerCallOnTheLoopIsReported) {
  ASSERT_EQ(table->post(
                table,
                [](void* argument) {
                  const auto* host = static_cast<const halogen_host*>(argument);
                  host->metric_create(host, HALOGEN_METRIC_GAUGE, "late", "", nullptr);
                },
                const_cast<halogen_host*>(table)),
            HALOGEN_OK);
  ASSERT_EQ(services.drain(std::chrono::seconds(60)), 0u);
  EXPECT_EQ(log.count("metric_create was called on the loop thread"), 1u);
}

TEST_F(Services, FunctionThatHoldsUpTheLoopIsReported) {
  for (const int milliseconds : {0, 150}) {
    static int pause;
    pause = milliseconds;
    ASSERT_EQ(
        table->post(
            table, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(pause)); },
            nullptr),
        HALOGEN_OK);
    ASSERT_EQ(services.drain(std::chrono::seconds(60)), 0u);
  }
  EXPECT_GE(log.count("org.example.x: a posted function held up the loop"), 1u);
}
#endif

using PostingPlugin = HostTest;

#ifndef NDEBUG
TEST_F(PostingPlugin, UnloadingOnTheLoopIsReported) {
  install("v1");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  std::atomic<bool> gone{false};
  auto let_go = [&] {
    handle->reset();
    gone = true;
  };
  loop.post([](void* argument) { (*static_cast<decltype(let_go)*>(argument))(); }, &let_go);
  while (!gone) std::this_thread::yield();
  EXPECT_EQ(log.count("plugin 'org.example.probe' is unloaded on the loop thread"), 1u);
}
#endif

TEST_F(PostingPlugin, StaysLoadedUntilTheLoopHasRunWhatItPosted) {
  install("v1");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  const halogen_host* table = probe(*handle).services();
  std::atomic<int> runs{0};
  for (int i = 0; i < 10; ++i)
    table->post(table, [](void* argument) { ++*static_cast<std::atomic<int>*>(argument); }, &runs);
  EXPECT_TRUE(host.unload(*handle).ok());
  EXPECT_EQ(runs, 10);
  EXPECT_EQ(mapped_copies(), mapped_before);
}

class StuckPlugin : public HostTest {
 protected:
  StuckPlugin() : HostTest(kShortPatience) {}
};

TEST_F(StuckPlugin, StaysResidentWhenTheLoopIsStuck) {
  install("v1");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  const halogen_host* table = probe(*handle).services();
  std::atomic<int> runs{0};
  loop.hold(true);
  table->post(table, [](void* argument) { ++*static_cast<std::atomic<int>*>(argument); }, &runs);
  const auto status = host.unload(*handle);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "plugin 'org.example.probe' generation 1 stays resident: the loop has not run 1 of its "
            "posted functions after 0.3 s");
  EXPECT_GT(mapped_copies(), mapped_before);
  loop.hold(false);
  while (runs == 0) std::this_thread::yield();
}

}  // namespace
}  // namespace halogen::test
