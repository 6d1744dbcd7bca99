#include "plugins/vulkan/transfers.h"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/vulkan_backend/any_device.h"

namespace halogen::vulkan {
namespace {

// More than two staging buffers, and no whole number of them.
constexpr uint64_t kBytes = (uint64_t{32} << 20) * 2 + 12345;

TEST(Transfers, BringBackWhatWasSentThroughStagingBuffersToo) {
  std::string reason;
  const auto any = AnyDevice::open(reason);
  if (!any) GTEST_SKIP() << reason;
  std::vector<uint8_t> sent(kBytes);
  uint32_t state = 1;
  for (uint8_t& byte : sent)
    byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  for (const bool always_stage : {false, true}) {
    MemoryPool pool(any->device, MemoryUse::device, 2 * kBytes);
    Transfers transfers(any->device, always_stage);
    const Span first = pool.take(kBytes), second = pool.take(kBytes);
    transfers.upload(sent.data(), first);
    transfers.copy({{first, second}});
    std::vector<uint8_t> back(kBytes);
    transfers.download(second, back.data());
    EXPECT_EQ(back, sent) << "always_stage " << always_stage;
  }
}

TEST(MemoryPool, SaysHowMuchIsFreeWhereThereIsNotEnough) {
  std::string reason;
  const auto any = AnyDevice::open(reason);
  if (!any) GTEST_SKIP() << reason;
  MemoryPool pool(any->device, MemoryUse::device, 0);
  try {
    pool.take(uint64_t{1} << 45);
    FAIL() << "32 TiB were given";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), HALOGEN_E_NO_MEMORY);
    EXPECT_NE(std::string(failure.what()).find("are free"), std::string::npos);
  }
}

}  // namespace
}  // namespace halogen::vulkan
