#include "plugins/cpu/memory.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "plugins/cpu/thread_team.h"
#include "tests/unit/host_threads.h"

namespace halogen::cpu {
namespace {

// Whether every page is in memory.
bool is_in_place(const Memory& memory) {
  std::vector<unsigned char> pages((memory.bytes() + 4095) / 4096);
  EXPECT_EQ(::mincore(memory.data(), memory.bytes(), pages.data()), 0);
  return std::all_of(pages.begin(), pages.end(),
                     [](unsigned char page) { return (page & 1) != 0; });
}

TEST(Memory, IsZeroAndInPlaceWhoeverTouchesIt) {
  const auto team = ThreadTeam::start(&halogen::test::host_threads(), 3, nullptr);
  ASSERT_TRUE(team);
  constexpr size_t kOdd = (size_t{100} << 20) + 4097;  // several shares, and a part of a page
  for (ThreadTeam* helpers : {static_cast<ThreadTeam*>(nullptr), team.get()}) {
    const Memory memory(kOdd, helpers);
    ASSERT_NE(memory.data(), nullptr);
    EXPECT_EQ(memory.bytes(), kOdd);
    EXPECT_TRUE(is_in_place(memory));
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + kOdd, [](uint8_t b) { return b == 0; }));
  }
}

}  // namespace
}  // namespace halogen::cpu
