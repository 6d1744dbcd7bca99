// Turns a Unix signal (SIGTERM, SIGINT, SIGHUP) into a call on the loop thread, where everything is
// allowed, unlike in a signal handler. Several watchers of one signal are all called.
#pragma once

#include <functional>
#include <memory>

#include "core/loop/loop.h"

namespace halogen {

class SignalWatcher {
 public:
  // [loop] Calls `callback` for each arrival (arrivals that come close together may merge into one)
  // until the watcher is destroyed, which restores the signal's default when it was the last.
  // `callback` must not throw. Fails for signals that cannot be caught.
  static Result<SignalWatcher> watch(Loop& loop, int signal_number, std::function<void()> callback);

 private:
  struct Handle;
  struct Closer {
    void operator()(Handle* handle) const noexcept;
  };
  explicit SignalWatcher(std::unique_ptr<Handle, Closer> handle);
  std::unique_ptr<Handle, Closer> handle_;
};

}  // namespace halogen
