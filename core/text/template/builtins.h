// The functions, filters, tests and methods that templates can use, as tables of C++ functions, and
// how their arguments are bound.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/text/template/interpreter.h"
#include "core/text/template/value.h"

namespace halogen::jinja {

class Call;

// `parameters` are the names after the subject, separated by blanks: "old new ?count". A '?' marks
// an optional one; a last "*" takes any further arguments (positional and named) as they come.
struct Builtin {
  std::string_view name;
  std::string_view parameters;
  Value (*run)(Call& call);
};

// One call of a builtin, with its arguments bound to the parameters.
class Call {
 public:
  static constexpr std::size_t kMaxParameters = 6;

  // Throws Failure when the arguments do not fit the parameters.
  Call(Interpreter& run, const Builtin& called, const Value& of, const Arguments& arguments);

  Interpreter& interpreter;
  const Builtin& builtin;
  Value subject;   // what is filtered, tested, or what the method belongs to
  Arguments rest;  // what "*" took

  Heap& heap() { return interpreter.heap(); }
  Budget& budget() { return interpreter.budget(); }

  bool has(std::size_t i) const { return bound_[i].has_value(); }
  // Argument i, or undefined.
  Value value(std::size_t i) const { return bound_[i].value_or(Value()); }
  // Each of these throws Failure for an argument of another type, and gives `fallback` for an
  // absent one.
  std::string_view text(std::size_t i, std::string_view fallback = {}) const;
  std::int64_t integer(std::size_t i, std::int64_t fallback = 0) const;
  bool boolean(std::size_t i, bool fallback = false) const;
  // Absent also when the argument is None.
  std::optional<std::int64_t> optional_integer(std::size_t i) const;

  // The subject as str() gives it, and as the string that a method belongs to.
  std::string subject_text();
  std::string_view own_text() const { return subject.as_text(); }
  // A string result that is safe when the subject is.
  Value same_kind(std::string text);

 private:
  std::array<std::optional<Value>, kMaxParameters> bound_;
};

Value invoke(Interpreter& interpreter, const Builtin& builtin, const Value& subject,
             const Arguments& arguments);

// Null when there is none of that name.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
const Builtin* find_function(std::string_view name);
const Builtin* find_method(Kind kind, std::string_view name);
// Methods that Python has but the sandbox forbids, because they change a list or dictionary.
bool is_forbidden_method(Kind kind, std::string_view name);

// The tables behind them, one per file.
const Builtin* find_text_filter(std::string_view name);
const Builtin* find_sequence_filter(std::string_view name);
const Builtin* find_selection_filter(std::string_view name);
const Builtin* find_string_method(std::string_view name);
const Builtin* find_container_method(Kind kind, std::string_view name);

template <std::size_t N>
const Builtin* find_in(const Builtin (&table)[N], std::string_view name) {
  for (const Builtin& builtin : table) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

// A method together with what it belongs to: the value of `text.strip`.
class BoundMethod final : public NativeObject {
 public:
  BoundMethod(const Value& receiver, const Builtin& method)
      : receiver_(receiver), method_(method) {}
  std::string_view type_name() const override { return "builtin_function_or_method"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override {
    return invoke(interpreter, method_, receiver_, arguments);
  }

 private:
  Value receiver_;
  const Builtin& method_;
};

}  // namespace halogen::jinja
