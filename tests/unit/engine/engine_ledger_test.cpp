// What the device did is counted in all and booked to the requests that it did it for.
#include "served.h"

namespace halogen::fake {
namespace {

constexpr uint32_t kPrompt = 6, kGenerated = 5;

// Alone, a request has whole steps: one of its prompt, and one for each token but the first.
TEST(EngineLedger, ARequestAloneIsBookedEverythingThatTheDeviceDid) {
  Served served;
  const uint64_t id = served.submit(request_of({1, 2, 3, 4, 5, 6}, kGenerated));
  served.run();
  const GenerationEvent& last = served.stream(id).last;
  EXPECT_EQ(last.prefill_work.bytes, Device::kStepBytes + kPrompt * Device::kTokenBytes);
  EXPECT_EQ(last.prefill_work.operations, kPrompt * Device::kTokenOperations);
  EXPECT_EQ(last.prefill_work.step_bytes, last.prefill_work.bytes);
  EXPECT_EQ(last.prefill_work.step_ns, 2000U);
  EXPECT_EQ(last.decode_work.bytes, (kGenerated - 1) * (Device::kStepBytes + Device::kTokenBytes));
  EXPECT_EQ(last.decode_work.operations, (kGenerated - 1) * Device::kTokenOperations);
  EXPECT_EQ(last.decode_work.step_ns, (kGenerated - 1) * 2000U);

  const EngineStats stats = served.engine().stats();
  EXPECT_EQ(stats.device_bytes, last.prefill_work.bytes + last.decode_work.bytes);
  EXPECT_EQ(stats.device_operations, last.prefill_work.operations + last.decode_work.operations);
  EXPECT_EQ(stats.device_ns, kGenerated * 2000U);
}

// Two equal requests that begin together halve every step, and both see the whole steps' rate.
TEST(EngineLedger, RequestsOfOneStepShareIt) {
  Served served(small_limits(), Served::held_until_run);
  const uint64_t a = served.submit(request_of({1, 2, 3}, kGenerated, 1));
  const uint64_t b = served.submit(request_of({4, 5, 6}, kGenerated, 2));
  served.run();
  const RequestWork first = served.stream(a).last.decode_work;
  const RequestWork second = served.stream(b).last.decode_work;
  const EngineStats stats = served.engine().stats();
  EXPECT_EQ(first.bytes + second.bytes + served.stream(a).last.prefill_work.bytes +
                served.stream(b).last.prefill_work.bytes,
            stats.device_bytes);
  EXPECT_GE(first.step_bytes, first.bytes);
  EXPECT_EQ(first.operations, (kGenerated - 1) * Device::kTokenOperations);
  EXPECT_EQ(second.operations, (kGenerated - 1) * Device::kTokenOperations);
}

TEST(EngineLedger, TheHostsTimeIsCountedByWhatItDoes) {
  Served served;
  served.submit(request_of({1, 2, 3}, 50));
  served.run();
  const EngineStats stats = served.engine().stats();
  EXPECT_GT(stats.plan_ns, 0U);
  EXPECT_GT(stats.assemble_ns, 0U);
  EXPECT_GT(stats.wait_ns, 0U);
  EXPECT_GT(stats.sample_ns, 0U);
  EXPECT_GT(stats.text_ns, 0U);
}

}  // namespace
}  // namespace halogen::fake
