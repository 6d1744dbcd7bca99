#include "core/engine/block_pool.h"

#include <gtest/gtest.h>

namespace halogen {
namespace {

TEST(BlockPool, HandsOutEveryBlockOnce) {
  BlockPool pool(3);
  EXPECT_EQ(pool.take(), 0U);
  EXPECT_EQ(pool.take(), 1U);
  EXPECT_EQ(pool.take(), 2U);
  EXPECT_EQ(pool.free_count(), 0U);
  EXPECT_EQ(pool.used_count(), 3U);
}

TEST(BlockPool, AReleasedBlockIsHandedOutAgain) {
  BlockPool pool(2);
  pool.take();
  const uint32_t block = pool.take();
  pool.release(block);
  EXPECT_EQ(pool.free_count(), 1U);
  EXPECT_EQ(pool.take(), block);
}

TEST(BlockPool, ASharedBlockIsFreeAfterItsLastHolder) {
  BlockPool pool(1);
  const uint32_t block = pool.take();
  pool.share(block);
  pool.release(block);
  EXPECT_EQ(pool.free_count(), 0U);
  pool.release(block);
  EXPECT_EQ(pool.free_count(), 1U);
}

}  // namespace
}  // namespace halogen
