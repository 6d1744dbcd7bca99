// A bell that any thread rings and the loop hears: what Loop::post() is for occasional functions,
// this is for a thread that has news many times a second. Ringing allocates nothing, and rings
// before the loop has heard count as one.
#pragma once

#include <functional>
#include <memory>

#include "core/base/result.h"
#include "core/loop/loop.h"

namespace halogen {

class WakeUp {
 public:
  // [loop] `callback` runs on the loop thread, at least once after each ring(), and must not throw.
  // Fails when the system has no descriptors left.
  static Result<std::unique_ptr<WakeUp>> create(Loop& loop, std::function<void()> callback);

  // [loop] No call of the callback begins after this. Threads that ring are joined before.
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  // [any] Lock-free.
  void ring() noexcept;

 private:
  struct Handle;
  explicit WakeUp(Handle* handle) : handle_(handle) {}
  Handle* handle_;  // freed when libuv has let go of it, which is after the WakeUp is gone
};

}  // namespace halogen
