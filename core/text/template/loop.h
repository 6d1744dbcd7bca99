// The `loop` variable of a for statement.
#pragma once

#include <string_view>
#include <vector>

#include "core/text/template/interpreter.h"
#include "core/text/template/statements.h"

namespace halogen::jinja {

class Loop final : public NativeObject {
 public:
  Loop(const For& statement, Scope& scope, std::vector<Value> items, int depth0)
      : statement_(statement), scope_(scope), items_(std::move(items)), depth0_(depth0) {}

  bool finished() const { return index0_ >= items_.size(); }
  void advance() { ++index0_; }
  const Value& current() const { return items_[index0_]; }
  std::size_t size() const { return items_.size(); }

  std::string_view type_name() const override { return "LoopContext"; }
  bool callable() const override { return true; }
  // loop(items): runs a recursive loop's body over `items`.
  Value call(Interpreter& interpreter, const Arguments& arguments) override;
  std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;

  // True when `values` differ from those of the last call.
  bool changed(Heap& heap, const std::vector<Value>& values);
  Value cycle(const std::vector<Value>& values) const;

 private:
  const For& statement_;
  Scope& scope_;
  std::vector<Value> items_;
  int depth0_;
  std::size_t index0_ = 0;
  std::optional<std::vector<Value>> last_changed_;
};

}  // namespace halogen::jinja
