// How the parser reports what went wrong: functions return false and leave one sentence here.
//
// The innermost function says what is wrong; each caller on the way up puts its place in front, so
// that the whole reads "model.gguf: tensor 'blk.0.attn_q.weight': dimension 1 is 0".
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "halogen/base.h"

namespace halogen::gguf {

struct Failure {
  halogen_status status = HALOGEN_OK;
  std::string message;

  // Both return false, so that a function can `return failure.set(...)`.
  bool set(halogen_status new_status, std::string new_message) {
    status = new_status;
    message = std::move(new_message);
    return false;
  }
  bool within(std::string_view place) {
    message.insert(0, std::string(place) + ": ");
    return false;
  }
};

}  // namespace halogen::gguf
