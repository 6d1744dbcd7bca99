#include "core/loop/signal_watcher.h"

#include <uv.h>

namespace halogen {

struct SignalWatcher::Handle {
  uv_signal_t signal{};
  std::function<void()> callback;
};

void SignalWatcher::Closer::operator()(Handle* handle) const noexcept {
  uv_close(reinterpret_cast<uv_handle_t*>(&handle->signal),
           [](uv_handle_t* closed) noexcept { delete static_cast<Handle*>(closed->data); });
}

SignalWatcher::SignalWatcher(std::unique_ptr<Handle, Closer> handle) : handle_(std::move(handle)) {}

Result<SignalWatcher> SignalWatcher::watch(Loop& loop, int signal_number,
                                           std::function<void()> callback) {
  auto plain = std::make_unique<Handle>();
  plain->callback = std::move(callback);
  if (int rc = uv_signal_init(loop.native(), &plain->signal); rc != 0) {
    return fail(HALOGEN_E_IO, "cannot watch signal " + std::to_string(signal_number) + ": " +
                                  uv_strerror(rc) + "; raise the limit on open files (ulimit -n)");
  }
  plain->signal.data = plain.get();
  std::unique_ptr<Handle, Closer> handle(plain.release());
  int rc = uv_signal_start(
      &handle->signal,
      [](uv_signal_t* signal, int) noexcept { static_cast<Handle*>(signal->data)->callback(); },
      signal_number);
  if (rc != 0) {
    return fail(HALOGEN_E_INVALID, "cannot watch signal " + std::to_string(signal_number) + ": " +
                                       uv_strerror(rc) + "; choose a signal that can be caught");
  }
  return SignalWatcher(std::move(handle));
}

}  // namespace halogen
