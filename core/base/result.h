// Errors are values: a function that can fail returns Result<T>, whose error is one sentence that
// says what went wrong, where, and what to do.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

#include "halogen/base.h"

namespace halogen {

struct Error {
  halogen_status status = HALOGEN_E_INTERNAL;
  std::string message;
};

// Builds an error; `Result<T> f() { return fail(HALOGEN_E_INVALID, "..."); }`.
Error fail(halogen_status status, std::string message);

// Puts `context` before an error's message: "loading model.gguf: tensor x: bad offset".
Error within(std::string_view context, Error error);

// An error that a plugin reported through the C boundary; an empty message gets the status' name.
Error from_plugin(halogen_status status, const halogen_error& error);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }

  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& value() {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  Error& error() {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  explicit operator bool() const { return ok_; }
  bool ok() const { return ok_; }
  Error& error() { return error_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

}  // namespace halogen
