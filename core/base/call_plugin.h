// Calling through a plugin's table: where its error goes, and how its status comes back.
#pragma once

#include <utility>

#include "core/base/result.h"

namespace halogen {

// Calls `call` with an empty halogen_error to fill. What it returns beside HALOGEN_OK is the
// error's status, with the plugin's sentence: `call_plugin([&](auto* error) { return
// table->open(path, &model, error); })`. Allocates nothing where the call succeeds.
template <typename Call>
Status call_plugin(Call&& call) {
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  const halogen_status status = std::forward<Call>(call)(&error);
  if (status != HALOGEN_OK) return from_plugin(status, error);
  return {};
}

}  // namespace halogen
