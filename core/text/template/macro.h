// A macro, or the `caller` of a call block, as a value that can be called.
#pragma once

#include <string>
#include <string_view>

#include "core/text/template/interpreter.h"
#include "core/text/template/statements.h"

namespace halogen::jinja {

class MacroObject final : public NativeObject {
 public:
  // Both must outlive the render: the definition is part of the template, the scope of the heap.
  MacroObject(const MacroDefinition& definition, Scope& scope)
      : definition_(definition), scope_(scope) {}

  std::string_view type_name() const override { return "Macro"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override;
  std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;
  std::string representation() const override { return "<Macro '" + definition_.name + "'>"; }

 private:
  void bind(Interpreter& interpreter, const Arguments& arguments, Scope& inner) const;

  const MacroDefinition& definition_;
  Scope& scope_;
};

}  // namespace halogen::jinja
