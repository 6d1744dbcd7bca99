#include "core/loop/loop.h"

#include <atomic>
#include <cassert>
#include <thread>

#include <uv.h>

#include "core/loop/mailbox.h"

namespace halogen {

namespace {

struct Task : MailboxLink {
  explicit Task(std::function<void()> f) : function(std::move(f)) {}
  std::function<void()> function;
};

}  // namespace

struct Loop::State {
  uv_loop_t loop{};
  uv_async_t wake_up{};
  Mailbox<Task> tasks;
  std::atomic<std::thread::id> thread{};
};

Result<std::unique_ptr<Loop>> Loop::create() {
  auto state = std::make_unique<State>();
  if (int rc = uv_loop_init(&state->loop); rc != 0) {
    return fail(HALOGEN_E_IO, std::string("cannot create an event loop: ") + uv_strerror(rc) +
                                  "; raise the limit on open files (ulimit -n)");
  }
  // A batch is what was posted up to now. Functions posted by these functions wake the loop again,
  // so that they cannot keep sockets and timers from their turn.
  auto run_tasks = [](uv_async_t* handle) noexcept {
    auto batch = static_cast<State*>(handle->data)->tasks.take_all();
    while (Task* next = batch.pop()) {
      std::unique_ptr<Task> task(next);
      task->function();
    }
  };
  if (int rc = uv_async_init(&state->loop, &state->wake_up, run_tasks); rc != 0) {
    uv_loop_close(&state->loop);
    return fail(HALOGEN_E_IO, std::string("cannot create the loop's wake-up: ") + uv_strerror(rc) +
                                  "; raise the limit on open files (ulimit -n)");
  }
  state->wake_up.data = state.get();
  return std::unique_ptr<Loop>(new Loop(std::move(state)));
}

Loop::Loop(std::unique_ptr<State> state) : state_(std::move(state)) {}

Loop::~Loop() {
  // What the functions captured may own timers or exchanges, so they go while the loop still works.
  auto batch = state_->tasks.take_all();
  while (Task* task = batch.pop()) delete task;
  uv_close(reinterpret_cast<uv_handle_t*>(&state_->wake_up), nullptr);
  uv_run(&state_->loop, UV_RUN_DEFAULT);  // the rest of the closing handles
  [[maybe_unused]] int rc = uv_loop_close(&state_->loop);
  assert(rc == 0 && "a timer, watcher or server outlives its loop");
}

void Loop::run() {
  state_->thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  uv_run(&state_->loop, UV_RUN_DEFAULT);
  state_->thread.store(std::thread::id(), std::memory_order_relaxed);
}

void Loop::stop() {
  post([loop = &state_->loop] { uv_stop(loop); });
}

void Loop::post(std::function<void()> function) {
  if (state_->tasks.push(new Task(std::move(function)))) uv_async_send(&state_->wake_up);
}

bool Loop::on_loop_thread() const {
  return state_->thread.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

uint64_t Loop::now() const {
  return uv_now(&state_->loop);
}

uv_loop_s* Loop::native() {
  return &state_->loop;
}

}  // namespace halogen
