// One render in progress: its heap, its budget, where its output goes, and how values are called
// and looked into. Syntax tree nodes and builtins work through it.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/text/template/statements.h"
#include "core/text/template/value.h"

namespace halogen::jinja {

// The variables of one block. Scopes nest as the blocks do; macros keep the scope they were defined
// in, so scopes live as long as the render.
class Scope final : public Object {
 public:
  explicit Scope(Scope* parent) : parent_(parent), depth_(parent ? parent->depth_ + 1 : 0) {}

  // The variable in this or an enclosing scope, or null.
  const Value* find(std::string_view name) const;
  // Sets it in this scope. `name` must outlive the render.
  void set(std::string_view name, const Value& value);
  // How many scopes are around this one.
  std::uint64_t depth() const { return depth_; }

 private:
  // Where this scope itself has the variable.
  std::optional<std::size_t> position(std::string_view name) const;

  Scope* parent_;
  std::uint64_t depth_;
  std::vector<std::pair<std::string_view, Value>> variables_;
  std::map<std::string_view, std::size_t> index_;  // filled once a scan would take too long
};

class Interpreter {
 public:
  // `local_time` is what strftime_now formats; absent: the machine's clock.
  Interpreter(const Limits& limits, const std::optional<std::tm>& local_time)
      : budget_(limits), heap_(budget_), local_time_(local_time) {}
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Budget& budget() { return budget_; }
  Heap& heap() { return heap_; }
  Scope& make_scope(Scope* parent) { return *heap_.make<Scope>(parent); }
  const std::optional<std::tm>& local_time() const { return local_time_; }

  // The template line being evaluated, for error messages.
  int line() const { return line_; }
  void set_line(int line) { line_ = line; }

  void write(std::string_view text);
  // What `body` writes, as a string of its own.
  template <typename F>
  std::string capture(F&& body);
  std::string take_output() { return std::move(output_); }

  Value call(const Value& callee, const Arguments& arguments);
  // object.name and object[key], with the fallbacks between them that Jinja has.
  Value attribute(const Value& object, std::string_view name);
  Value item(const Value& object, const Value& key);
  // What Python's getattr would find, as far as templates may see it: methods, parts of `loop`.
  std::optional<Value> own_attribute(const Value& object, std::string_view name);
  // Follows a dotted path, as the `attribute` arguments of filters do: "function.name", "0.id".
  Value path(const Value& object, const Value& path);

  Value apply_filter(std::string_view name, const Value& subject, const Arguments& arguments);
  bool apply_test(std::string_view name, const Value& subject, const Arguments& arguments);

 private:
  Budget budget_;
  Heap heap_;
  const std::optional<std::tm>& local_time_;
  std::string output_;
  int line_ = 1;
};

template <typename F>
std::string Interpreter::capture(F&& body) {
  std::string outer = std::move(output_);
  output_.clear();
  // A Failure ends the whole render, so nothing needs the outer output back when one passes
  // through.
  std::forward<F>(body)();
  std::string captured = std::move(output_);
  output_ = std::move(outer);
  return captured;
}

}  // namespace halogen::jinja
