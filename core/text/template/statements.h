// The statement half of the syntax tree. Nodes execute themselves; execute.cpp says how.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/text/template/expressions.h"

namespace halogen::jinja {

// How a statement ended: on to the next one, or out of the loop around it.
enum class Flow : std::uint8_t { normal, break_loop, continue_loop };

struct Statement {
  explicit Statement(int at_line) : line(at_line) {}
  virtual ~Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Writes to the interpreter's output and sets variables in `scope`. Throws Failure.
  virtual Flow execute(Interpreter& interpreter, Scope& scope) const = 0;

  int line;
};

using Body = std::vector<std::unique_ptr<Statement>>;

Flow execute_body(const Body& body, Interpreter& interpreter, Scope& scope);

// What can stand left of "=" or before "in": a name, `object.attribute` of a namespace, or several.
struct Target {
  void assign(Interpreter& interpreter, Scope& scope, const Value& value) const;

  int line = 0;
  std::string name;
  std::string attribute;      // set for a namespace's attribute
  std::vector<Target> parts;  // set for a tuple
  bool is_tuple = false;
};

// A parameter of a macro or call block; `fallback` may be null.
struct Parameter {
  std::string name;
  ExpressionPtr fallback;
};

// The part that macros and call blocks share. The uses_ flags say which of the implicit variables
// the body reads, because only then may a caller pass what they hold.
struct MacroDefinition {
  std::string name;
  std::vector<Parameter> parameters;
  Body body;
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};

struct Text final : Statement {
  Text(int at_line, std::string data) : Statement(at_line), text(std::move(data)) {}
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  std::string text;
};

struct Print final : Statement {
  Print(int at_line, ExpressionPtr what) : Statement(at_line), expression(std::move(what)) {}
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr expression;
};

struct If final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  struct Branch {
    ExpressionPtr condition;
    Body body;
  };
  std::vector<Branch> branches;
  Body otherwise;
};

struct For final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;
  // One run over `iterable`; `depth0` counts the recursion of a recursive loop.
  void run(Interpreter& interpreter, Scope& scope, const Value& iterable, int depth0) const;

  Target target;
  ExpressionPtr iterable_expression;
  ExpressionPtr filter;  // null when there is none
  bool recursive = false;
  Body body;
  Body otherwise;
};

struct Set final : Statement {
  Set(int at_line, Target to, ExpressionPtr what)
      : Statement(at_line), target(std::move(to)), value(std::move(what)) {}
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  Target target;
  ExpressionPtr value;
};

struct SetBlock final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  Target target;
  std::unique_ptr<FilterExpression> filter;  // null when there is none
  Body body;
};

struct FilterBlock final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  std::unique_ptr<FilterExpression> filter;
  Body body;
};

struct Macro final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  MacroDefinition definition;
};

struct CallBlock final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  MacroDefinition definition;  // what `caller` runs
  std::unique_ptr<CallExpression> call;
};

struct With final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  std::vector<std::pair<Target, ExpressionPtr>> assignments;
  Body body;
};

// A body with variables of its own: `block`, `autoescape`, and transformers' `generation`.
struct ScopedBody final : Statement {
  using Statement::Statement;
  Flow execute(Interpreter& interpreter, Scope& scope) const override;

  Body body;
};

struct LoopControl final : Statement {
  LoopControl(int at_line, Flow which) : Statement(at_line), flow(which) {}
  Flow execute(Interpreter&, Scope&) const override { return flow; }

  Flow flow;
};

}  // namespace halogen::jinja
