// What the host needs of the event loop, so that plugins can post to it.
#pragma once

#include "halogen/host.h"

namespace halogen {

class LoopPoster {
 public:
  virtual ~LoopPoster() = default;
  // [any] Runs run(argument) once on the loop thread, soon, in the order of the calls.
  virtual void post(halogen_run run, void* argument) = 0;
  // [any] Whether the caller is the loop thread; calls tagged [worker] refuse it.
  virtual bool on_loop_thread() const = 0;
};

}  // namespace halogen
