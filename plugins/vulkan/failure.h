// How the inside of this plugin fails: by an exception that becomes a halogen_error at the
// boundary. Nearly every Vulkan call can fail, most of them in constructors of what owns the
// result.
#pragma once

#include <stdexcept>
#include <string>

#include "halogen/cxx/plugin.hpp"

#include "plugins/vulkan/vulkan_api.h"

namespace halogen::vulkan {

class Failure : public std::runtime_error {
 public:
  Failure(halogen_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  halogen_status status() const { return status_; }

 private:
  halogen_status status_;
};

// [any] "VK_ERROR_OUT_OF_DEVICE_MEMORY", or the number of a result that is not known here.
std::string result_name(VkResult result);

// [any] Throws a Failure for a result that is an error; `call` says what was tried: "compiling a
// shader".
void check(VkResult result, const std::string& call);

// [any] Runs `body` at the plugin's boundary: what it throws becomes *error and the status.
template <typename Body>
halogen_status at_boundary(halogen_error* error, Body body) noexcept {
  return guarded(error, [&]() -> halogen_status {
    try {
      return body();
    } catch (const Failure& failure) {
      return failed(error, failure.status(), failure.what());
    }
  });
}

}  // namespace halogen::vulkan
