// A one-shot or repeating timer on a loop. Destroying it stops it; it may be destroyed or restarted
// from inside its own callback.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/loop/loop.h"

namespace halogen {

class Timer {
 public:
  // [loop] Creates a stopped timer. `callback` runs on the loop thread and must not throw.
  Timer(Loop& loop, std::function<void()> callback);

  // [loop] Fires after `delay` and then, when `repeat` is not zero, every `repeat`. Restarts a
  // timer that is running.
  void start(std::chrono::milliseconds delay,
             std::chrono::milliseconds repeat = std::chrono::milliseconds::zero());

  // [loop] No call of the callback begins after this.
  void stop();

  // [loop] True while the timer will still fire.
  bool active() const;

 private:
  struct Handle;
  struct Closer {
    void operator()(Handle* handle) const noexcept;
  };
  std::unique_ptr<Handle, Closer> handle_;
};

}  // namespace halogen
