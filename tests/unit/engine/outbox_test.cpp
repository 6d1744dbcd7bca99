#include "core/engine/outbox.h"

#include <thread>

#include <gtest/gtest.h>

namespace halogen {
namespace {

TEST(Outbox, NothingFilledIsNothingPublished) {
  Outbox outbox(4);
  EXPECT_FALSE(outbox.publish());
  EXPECT_EQ(outbox.take(), nullptr);
}

TEST(Outbox, ABatchNotTakenYetIsFilledFurther) {
  Outbox outbox(4);
  Sequence a, b;
  a.id = 1;
  b.id = 2;
  outbox.event_of(a).tokens.push_back(10);
  EXPECT_TRUE(outbox.publish());
  outbox.event_of(b).tokens.push_back(20);
  outbox.event_of(a).tokens.push_back(11);
  EXPECT_TRUE(outbox.publish());

  EventBatch* batch = outbox.take();
  ASSERT_NE(batch, nullptr);
  ASSERT_EQ(batch->used, 2U);
  EXPECT_EQ(batch->events[0].request_id, 1U);
  EXPECT_EQ(batch->events[0].tokens, (std::vector<int32_t>{10, 11}));
  EXPECT_EQ(batch->events[1].tokens, (std::vector<int32_t>{20}));
  EXPECT_EQ(outbox.take(), nullptr);
}

TEST(Outbox, WhileTheLoopHasABatchTheOtherIsFilled) {
  Outbox outbox(4);
  Sequence a;
  a.id = 1;
  outbox.event_of(a).tokens.push_back(10);
  outbox.publish();
  EventBatch* first = outbox.take();
  outbox.event_of(a).tokens.push_back(11);
  outbox.publish();
  outbox.give_back(*first);
  EventBatch* second = outbox.take();
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->events[0].tokens, (std::vector<int32_t>{11}));
}

TEST(Outbox, ARecycledEventIsEmpty) {
  Outbox outbox(4);
  Sequence a;
  for (int round = 0; round < 3; round++) {
    GenerationEvent& event = outbox.event_of(a);
    EXPECT_TRUE(event.tokens.empty() && event.text.empty() && event.error.empty());
    EXPECT_EQ(event.finish, FinishReason::none);
    event.tokens.push_back(1);
    event.text = "x";
    event.error = "y";
    event.finish = FinishReason::error;
    outbox.retire(a);
    outbox.publish();
    EventBatch* batch = outbox.take();
    EXPECT_EQ(batch->retired.size(), 1U);
    outbox.give_back(*batch);
  }
}

TEST(Outbox, BetweenTwoThreadsNothingIsLostOrReordered) {
  constexpr int32_t kTokens = 200000;
  Outbox outbox(2);
  Sequence a, b;
  a.id = 0;
  b.id = 1;
  std::thread engine([&] {
    for (int32_t token = 0; token < kTokens; token++) {
      outbox.event_of(token % 3 == 0 ? a : b).tokens.push_back(token);
      outbox.publish();
    }
  });
  std::vector<int32_t> received[2];
  while (received[0].size() + received[1].size() < kTokens) {
    EventBatch* batch = outbox.take();
    if (batch == nullptr) {
      std::this_thread::yield();
      continue;
    }
    for (size_t i = 0; i < batch->used; i++) {
      const GenerationEvent& event = batch->events[i];
      auto& stream = received[event.request_id];
      stream.insert(stream.end(), event.tokens.begin(), event.tokens.end());
    }
    outbox.give_back(*batch);
  }
  engine.join();
  for (int32_t token = 0, in_a = 0, in_b = 0; token < kTokens; token++) {
    const int32_t got = token % 3 == 0 ? received[0][static_cast<size_t>(in_a++)]
                                       : received[1][static_cast<size_t>(in_b++)];
    ASSERT_EQ(got, token);
  }
}

}  // namespace
}  // namespace halogen
