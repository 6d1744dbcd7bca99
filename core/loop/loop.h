// The event loop that does all I/O and all JSON of the server. One thread runs it; every other
// thread reaches it with post(). libuv stays behind this header: only core/loop and core/http see
// it.
//
// Callbacks that the loop calls (posted functions, timers, signals) must not throw: there is nobody
// to report to, so an exception that leaves one ends the process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/result.h"

struct uv_loop_s;

namespace halogen {

class Loop {
 public:
  // [any] Fails when the system has no descriptors left for epoll and the wake-up.
  static Result<std::unique_ptr<Loop>> create();

  // [loop] Drops functions that were posted and never ran. Timers, watchers and servers made on
  // this loop must be destroyed before it, and threads that post to it joined.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs callbacks on the calling thread, which becomes the loop thread, until stop(). May be
  // called again after it has returned.
  void run();

  // [any] Makes run() return at the end of its current round, after the functions that were posted
  // before. Before run(), it makes the next run() return at once.
  void stop();

  // [any] Runs `function` on the loop thread, in the order of posting for each posting thread.
  // Lock-free; any number of posts made before the loop wakes cost it one wake-up.
  void post(std::function<void()> function);

  // [any] True on the thread that is inside run(); for assertions.
  bool on_loop_thread() const;

  // [loop] Milliseconds of a monotonic clock, read once per round.
  uint64_t now() const;

  // [loop] The libuv loop, for core/http.
  uv_loop_s* native();

 private:
  struct State;
  explicit Loop(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace halogen
