// The expression half of the syntax tree. Nodes evaluate themselves; evaluate.cpp says how.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/template/operators.h"
#include "core/text/template/value.h"

namespace halogen::jinja {

class Interpreter;
class Scope;
struct Builtin;

struct Expression {
  explicit Expression(int at_line) : line(at_line) {}
  virtual ~Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  // The value in `scope`, paid for from the interpreter's budget. Throws Failure.
  Value evaluate(Interpreter& interpreter, Scope& scope) const;

  int line;
  int depth = 1;  // levels of nodes from here down; the parser bounds it, so that recursion is safe

 protected:
  virtual Value compute(Interpreter& interpreter, Scope& scope) const = 0;
};

using ExpressionPtr = std::unique_ptr<Expression>;

inline int depth_of(const ExpressionPtr& expression) {
  return expression ? expression->depth : 0;
}

struct Literal final : Expression {
  Literal(int at_line, Value constant) : Expression(at_line), value(constant) {}
  Literal(int at_line, std::string constant)
      : Expression(at_line),
        text(std::make_unique<StringObject>(std::move(constant), false)),
        value(Value::object(Kind::string, text.get())) {}
  Value compute(Interpreter&, Scope&) const override { return value; }

  std::unique_ptr<StringObject> text;  // a string's bytes, shared by all renders and never changed
  Value value;
};

struct Name final : Expression {
  Name(int at_line, std::string variable) : Expression(at_line), name(std::move(variable)) {}
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  std::string name;
};

// A list, or a tuple.
struct SequenceLiteral final : Expression {
  SequenceLiteral(int at_line, Kind kind, std::vector<ExpressionPtr> values);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  Kind sequence_kind;
  std::vector<ExpressionPtr> items;
};

struct DictLiteral final : Expression {
  DictLiteral(int at_line, std::vector<std::pair<ExpressionPtr, ExpressionPtr>> pairs);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};

struct Attribute final : Expression {
  Attribute(int at_line, ExpressionPtr of, std::string attribute);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr object;
  std::string name;
};

struct Subscript final : Expression {
  Subscript(int at_line, ExpressionPtr of, ExpressionPtr index);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr object;
  ExpressionPtr key;
};

// object[start:stop:step]; absent bounds are null.
struct SliceExpression final : Expression {
  SliceExpression(int at_line, ExpressionPtr of, ExpressionPtr from, ExpressionPtr to,
                  ExpressionPtr by);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr object, start, stop, step;
};

// The arguments of a call as written: a, b, name=c, *more, **named.
struct ArgumentList {
  Arguments evaluate(Interpreter& interpreter, Scope& scope) const;
  int depth() const;

  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr more_positional;
  ExpressionPtr more_named;
};

struct CallExpression final : Expression {
  CallExpression(int at_line, ExpressionPtr function, ArgumentList passed);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr callee;
  ArgumentList arguments;
};

// subject|name(arguments). A null subject stands for the text of the block that is filtered.
struct FilterExpression final : Expression {
  FilterExpression(int at_line, ExpressionPtr of, std::string filter_name, const Builtin* found,
                   ArgumentList passed);
  Value compute(Interpreter& interpreter, Scope& scope) const override;
  Value apply(Interpreter& interpreter, Scope& scope, Value block_text) const;

  ExpressionPtr subject;
  std::string name;
  const Builtin* filter;  // null when there is none of that name: an error when it is reached
  ArgumentList arguments;
};

struct TestExpression final : Expression {
  TestExpression(int at_line, ExpressionPtr of, std::string test_name, const Builtin* found,
                 ArgumentList passed);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr subject;
  std::string name;
  const Builtin* test;  // as FilterExpression::filter
  ArgumentList arguments;
};

enum class UnaryOperator : std::uint8_t { negate, plus, logical_not };

struct Unary final : Expression {
  Unary(int at_line, UnaryOperator what, ExpressionPtr of);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  UnaryOperator operation;
  ExpressionPtr operand;
};

struct Binary final : Expression {
  Binary(int at_line, BinaryOperator what, ExpressionPtr a, ExpressionPtr b);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  BinaryOperator operation;
  ExpressionPtr left, right;
};

// `and` and `or`, which give one of their operands.
struct Logical final : Expression {
  Logical(int at_line, bool is_conjunction, ExpressionPtr a, ExpressionPtr b);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  bool conjunction;
  ExpressionPtr left, right;
};

// a < b <= c: true when every neighbouring pair compares true.
struct Comparison final : Expression {
  using Link = std::pair<ComparisonOperator, ExpressionPtr>;
  Comparison(int at_line, ExpressionPtr a, std::vector<Link> rest);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr first;
  std::vector<Link> links;
};

// a ~ b ~ c
struct Concatenation final : Expression {
  Concatenation(int at_line, std::vector<ExpressionPtr> values);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  std::vector<ExpressionPtr> parts;
};

// value if condition else otherwise; a null `otherwise` gives undefined.
struct Conditional final : Expression {
  Conditional(int at_line, ExpressionPtr when, ExpressionPtr then, ExpressionPtr or_else);
  Value compute(Interpreter& interpreter, Scope& scope) const override;

  ExpressionPtr condition, value, otherwise;
};

}  // namespace halogen::jinja
