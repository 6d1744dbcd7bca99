#include "core/loop/workers.h"

#include <cassert>
#include <utility>

#include <uv.h>

namespace halogen {

struct Workers::Task {
  uv_work_t request{};
  Workers& workers;
  std::function<void()> work, done;
};

Workers::Workers(Loop& loop) : loop_(loop) {}

Workers::~Workers() {
  finish();
}

void Workers::run(std::function<void()> work, std::function<void()> done) {
  auto* task = new Task{{}, *this, std::move(work), std::move(done)};
  task->request.data = task;
  unfinished_++;
  const auto call_work = [](uv_work_t* request) noexcept {
    static_cast<Task*>(request->data)->work();
  };
  const auto call_done = [](uv_work_t* request, int) noexcept {
    const std::unique_ptr<Task> ended(static_cast<Task*>(request->data));
    ended->done();
    Workers& workers = ended->workers;
    if (--workers.unfinished_ == 0 && workers.finishing_) workers.loop_.stop();
  };
  [[maybe_unused]] const int rc =
      uv_queue_work(loop_.native(), &task->request, call_work, call_done);
  assert(rc == 0 && "uv_queue_work fails only without a function");
}

void Workers::finish() {
  finishing_ = true;
  while (unfinished_ > 0) loop_.run();
  finishing_ = false;
}

}  // namespace halogen
