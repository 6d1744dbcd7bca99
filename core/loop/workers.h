// Work that would hold up the loop, such as reading a long text as tokens: done on libuv's own
// threads (UV_THREADPOOL_SIZE, four unless set), its end reported on the loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "core/loop/loop.h"

namespace halogen {

class Workers {
 public:
  // [loop]
  explicit Workers(Loop& loop);
  // [loop] finish()es, unless that was done.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // [loop] Calls `work` on a thread of the pool and then `done` on the loop thread. Neither may
  // throw. The order in which several end is not theirs to choose.
  void run(std::function<void()> work, std::function<void()> done);

  // [loop, outside Loop::run()] Runs the loop until all work is done and reported. Work that the
  // reports begin is waited for too.
  void finish();

 private:
  struct Task;
  Loop& loop_;
  size_t unfinished_ = 0;
  bool finishing_ = false;
};

}  // namespace halogen
