// Construction of expression nodes: each takes its children and notes how deep the tree now is.
#include "core/text/template/expressions.h"

namespace halogen::jinja {

namespace {

int deepest(const std::vector<ExpressionPtr>& expressions) {
  int depth = 0;
  for (const auto& expression : expressions) depth = std::max(depth, depth_of(expression));
  return depth;
}

}  // namespace

SequenceLiteral::SequenceLiteral(int at_line, Kind kind, std::vector<ExpressionPtr> values)
    : Expression(at_line), sequence_kind(kind), items(std::move(values)) {
  depth = 1 + deepest(items);
}

DictLiteral::DictLiteral(int at_line, std::vector<std::pair<ExpressionPtr, ExpressionPtr>> pairs)
    : Expression(at_line), entries(std::move(pairs)) {
  for (const auto& [key, value] : entries) {
    depth = std::max({depth, 1 + depth_of(key), 1 + depth_of(value)});
  }
}

Attribute::Attribute(int at_line, ExpressionPtr of, std::string attribute)
    : Expression(at_line), object(std::move(of)), name(std::move(attribute)) {
  depth = 1 + depth_of(object);
}

Subscript::Subscript(int at_line, ExpressionPtr of, ExpressionPtr index)
    : Expression(at_line), object(std::move(of)), key(std::move(index)) {
  depth = 1 + std::max(depth_of(object), depth_of(key));
}

SliceExpression::SliceExpression(int at_line, ExpressionPtr of, ExpressionPtr from,
                                 ExpressionPtr to, ExpressionPtr by)
    : Expression(at_line),
      object(std::move(of)),
      start(std::move(from)),
      stop(std::move(to)),
      step(std::move(by)) {
  depth = 1 + std::max({depth_of(object), depth_of(start), depth_of(stop), depth_of(step)});
}

int ArgumentList::depth() const {
  int result = std::max({deepest(positional), depth_of(more_positional), depth_of(more_named)});
  for (const auto& [name, value] : named) result = std::max(result, depth_of(value));
  return result;
}

CallExpression::CallExpression(int at_line, ExpressionPtr function, ArgumentList passed)
    : Expression(at_line), callee(std::move(function)), arguments(std::move(passed)) {
  depth = 1 + std::max(depth_of(callee), arguments.depth());
}

FilterExpression::FilterExpression(int at_line, ExpressionPtr of, std::string filter_name,
                                   const Builtin* found, ArgumentList passed)
    : Expression(at_line),
      subject(std::move(of)),
      name(std::move(filter_name)),
      filter(found),
      arguments(std::move(passed)) {
  depth = 1 + std::max(depth_of(subject), arguments.depth());
}

TestExpression::TestExpression(int at_line, ExpressionPtr of, std::string test_name,
                               const Builtin* found, ArgumentList passed)
    : Expression(at_line),
      subject(std::move(of)),
      name(std::move(test_name)),
      test(found),
      arguments(std::move(passed)) {
  depth = 1 + std::max(depth_of(subject), arguments.depth());
}

Unary::Unary(int at_line, UnaryOperator what, ExpressionPtr of)
    : Expression(at_line), operation(what), operand(std::move(of)) {
  depth = 1 + depth_of(operand);
}

Binary::Binary(int at_line, BinaryOperator what, ExpressionPtr a, ExpressionPtr b)
    : Expression(at_line), operation(what), left(std::move(a)), right(std::move(b)) {
  depth = 1 + std::max(depth_of(left), depth_of(right));
}

Logical::Logical(int at_line, bool is_conjunction, ExpressionPtr a, ExpressionPtr b)
    : Expression(at_line), conjunction(is_conjunction), left(std::move(a)), right(std::move(b)) {
  depth = 1 + std::max(depth_of(left), depth_of(right));
}

Comparison::Comparison(int at_line, ExpressionPtr a, std::vector<Link> rest)
    : Expression(at_line), first(std::move(a)), links(std::move(rest)) {
  depth = 1 + depth_of(first);
  for (const auto& [operation, operand] : links) depth = std::max(depth, 1 + depth_of(operand));
}

Concatenation::Concatenation(int at_line, std::vector<ExpressionPtr> values)
    : Expression(at_line), parts(std::move(values)) {
  depth = 1 + deepest(parts);
}

Conditional::Conditional(int at_line, ExpressionPtr when, ExpressionPtr then, ExpressionPtr or_else)
    : Expression(at_line),
      condition(std::move(when)),
      value(std::move(then)),
      otherwise(std::move(or_else)) {
  depth = 1 + std::max({depth_of(condition), depth_of(value), depth_of(otherwise)});
}

}  // namespace halogen::jinja
