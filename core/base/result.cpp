#include "core/base/result.h"

namespace halogen {

Error fail(halogen_status status, std::string message) {
  return Error{status, std::move(message)};
}

Error within(std::string_view context, Error error) {
  error.message = std::string(context) + ": " + error.message;
  return error;
}

Error from_plugin(halogen_status status, const halogen_error& error) {
  std::string message = error.message[0] != '\0' ? error.message : halogen_status_name(status);
  return Error{status, std::move(message)};
}

}  // namespace halogen
