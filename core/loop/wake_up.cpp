#include "core/loop/wake_up.h"

#include <uv.h>

namespace halogen {

struct WakeUp::Handle {
  uv_async_t async{};
  std::function<void()> callback;
};

Result<std::unique_ptr<WakeUp>> WakeUp::create(Loop& loop, std::function<void()> callback) {
  auto handle = std::make_unique<Handle>();
  handle->callback = std::move(callback);
  auto hear = [](uv_async_t* async) noexcept { static_cast<Handle*>(async->data)->callback(); };
  if (int rc = uv_async_init(loop.native(), &handle->async, hear); rc != 0) {
    return fail(HALOGEN_E_IO, std::string("cannot create a wake-up of the loop: ") +
                                  uv_strerror(rc) + "; raise the limit on open files (ulimit -n)");
  }
  handle->async.data = handle.get();
  return std::unique_ptr<WakeUp>(new WakeUp(handle.release()));
}

WakeUp::~WakeUp() {
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_->async),
           [](uv_handle_t* closed) noexcept { delete static_cast<Handle*>(closed->data); });
}

void WakeUp::ring() noexcept {
  uv_async_send(&handle_->async);
}

}  // namespace halogen
