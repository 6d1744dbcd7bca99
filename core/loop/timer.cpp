#include "core/loop/timer.h"

#include <uv.h>

namespace halogen {

// Outlives its Timer until libuv has let go of it, which also keeps the callback alive while it
// runs.
struct Timer::Handle {
  uv_timer_t timer{};
  std::function<void()> callback;
};

void Timer::Closer::operator()(Handle* handle) const noexcept {
  uv_close(reinterpret_cast<uv_handle_t*>(&handle->timer),
           [](uv_handle_t* closed) noexcept { delete static_cast<Handle*>(closed->data); });
}

Timer::Timer(Loop& loop, std::function<void()> callback) {
  auto handle = std::make_unique<Handle>();
  handle->callback = std::move(callback);
  uv_timer_init(loop.native(), &handle->timer);  // never fails
  handle->timer.data = handle.get();
  handle_.reset(handle.release());
}

void Timer::start(std::chrono::milliseconds delay, std::chrono::milliseconds repeat) {
  // The loop's clock stands still during a round; without this a long callback before start() would
  // eat into the delay.
  uv_update_time(handle_->timer.loop);
  uv_timer_start(
      &handle_->timer,
      [](uv_timer_t* timer) noexcept { static_cast<Handle*>(timer->data)->callback(); },
      static_cast<uint64_t>(delay.count()), static_cast<uint64_t>(repeat.count()));
}

void Timer::stop() {
  uv_timer_stop(&handle_->timer);
}

bool Timer::active() const {
  return uv_is_active(reinterpret_cast<const uv_handle_t*>(&handle_->timer)) != 0;
}

}  // namespace halogen
