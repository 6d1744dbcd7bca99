// A lock-free mailbox: any number of threads push messages, one thread takes all of them at once.
// This is how threads talk to each other in halogen: no locks, and, because the link lies inside
// the message, no allocation besides the message itself.
//
// The structure is a stack whose head is swapped out whole. Nobody ever pops a single element, so
// the ABA problem of lock-free stacks cannot arise; the reader restores the order of arrival.
#pragma once

#include <atomic>

namespace halogen {

// Base of a message; it is in at most one mailbox at a time.
struct MailboxLink {
  MailboxLink* mailbox_next = nullptr;
};

// Message derives from MailboxLink. The mailbox owns nothing: whoever takes a message owns it, and
// what is still inside when the mailbox goes is the owner's to take first.
template <typename Message>
class Mailbox {
 public:
  // Messages in the order of arrival.
  class Batch {
   public:
    explicit Batch(MailboxLink* first) : first_(first) {}
    bool empty() const { return first_ == nullptr; }

    // The next message, or null at the end. Its link is free again, so it may be pushed at once.
    Message* pop() noexcept {
      MailboxLink* link = first_;
      if (link != nullptr) first_ = link->mailbox_next;
      return static_cast<Message*>(link);
    }

   private:
    MailboxLink* first_;
  };

  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // [any] Returns true when the mailbox was empty, which is when its reader has to be woken.
  bool push(Message* message) noexcept {
    MailboxLink* head = head_.load(std::memory_order_relaxed);
    do {
      message->mailbox_next = head;
    } while (!head_.compare_exchange_weak(head, message, std::memory_order_release,
                                          std::memory_order_relaxed));
    return head == nullptr;
  }

  // [any] Takes everything. Of two concurrent callers one gets any given message.
  Batch take_all() noexcept {
    MailboxLink* newest = head_.exchange(nullptr, std::memory_order_acquire);
    MailboxLink* oldest = nullptr;
    while (newest != nullptr) {
      MailboxLink* older = newest->mailbox_next;
      newest->mailbox_next = oldest;
      oldest = newest;
      newest = older;
    }
    return Batch(oldest);
  }

  // [any] A hint only: another thread may push at any moment.
  bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

 private:
  std::atomic<MailboxLink*> head_{nullptr};
};

}  // namespace halogen
