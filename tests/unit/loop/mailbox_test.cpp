// The mailbox keeps each sender's order, loses nothing, and says exactly when its reader must wake.
#include "core/loop/mailbox.h"

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halogen {
namespace {

struct Message : MailboxLink {
  int sender = 0;
  int number = 0;
};

TEST(Mailbox, GivesMessagesInOrderOfArrival) {
  Mailbox<Message> mailbox;
  std::array<Message, 3> messages;
  for (int i = 0; i < 3; ++i) {
    messages[i].number = i;
    mailbox.push(&messages[i]);
  }
  auto batch = mailbox.take_all();
  EXPECT_EQ(batch.pop(), &messages[0]);
  EXPECT_EQ(batch.pop(), &messages[1]);
  EXPECT_EQ(batch.pop(), &messages[2]);
  EXPECT_EQ(batch.pop(), nullptr);
}

TEST(Mailbox, AsksForAWakeUpOnlyWhenItWasEmpty) {
  Mailbox<Message> mailbox;
  Message first, second, third;
  EXPECT_TRUE(mailbox.push(&first));
  EXPECT_FALSE(mailbox.push(&second));
  EXPECT_FALSE(mailbox.empty());
  mailbox.take_all();
  EXPECT_TRUE(mailbox.empty());
  EXPECT_TRUE(mailbox.push(&third));
  mailbox.take_all();
}

TEST(Mailbox, TakenMessageMayBePushedAtOnce) {
  Mailbox<Message> mailbox;
  Message first, second;
  mailbox.push(&first);
  mailbox.push(&second);
  auto batch = mailbox.take_all();
  mailbox.push(batch.pop());
  EXPECT_EQ(batch.pop(), &second);
  EXPECT_EQ(mailbox.take_all().pop(), &first);
}

TEST(Mailbox, ManySendersLoseNothingAndKeepTheirOrder) {
  constexpr int kSenders = 4;
  constexpr int kEach = 20000;
  Mailbox<Message> mailbox;
  std::vector<std::thread> senders;
  senders.reserve(kSenders);
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&mailbox, sender] {
      for (int i = 0; i < kEach; ++i) {
        auto message = std::make_unique<Message>();
        message->sender = sender;
        message->number = i;
        mailbox.push(message.release());
      }
    });
  }
  std::array<int, kSenders> expected{};
  int received = 0;
  while (received < kSenders * kEach) {
    auto batch = mailbox.take_all();
    if (batch.empty()) std::this_thread::yield();
    while (Message* raw = batch.pop()) {
      std::unique_ptr<Message> message(raw);
      EXPECT_EQ(message->number, expected[message->sender]++);
      ++received;
    }
  }
  for (auto& sender : senders) sender.join();
  EXPECT_TRUE(mailbox.empty());
}

}  // namespace
}  // namespace halogen
