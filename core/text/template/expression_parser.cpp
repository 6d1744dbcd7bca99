// Recursive descent over expressions.
#include "core/text/template/expression_parser.h"

#include "core/text/template/builtins.h"

namespace halogen::jinja {

ExpressionPtr ExpressionParser::parse_expression(bool with_conditional) {
  const Level level(*this);
  return with_conditional ? parse_conditional() : parse_or();
}

bool ExpressionParser::at_tuple_end(std::string_view end_name) const {
  return tokens_.at_tag_end() || tokens_.at_symbol(")") ||
         (!end_name.empty() && tokens_.at_name(end_name));
}

ExpressionPtr ExpressionParser::parse_tuple(bool with_conditional, std::string_view end_name,
                                            bool in_parentheses) {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty()) tokens_.expect_symbol(",");
    if (at_tuple_end(end_name)) break;
    items.push_back(parse_expression(with_conditional));
    if (!tokens_.at_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items.front());
  if (!is_tuple && !in_parentheses) tokens_.fail_expecting("an expression");
  return checked(std::make_unique<SequenceLiteral>(line, Kind::tuple, std::move(items)));
}

ExpressionPtr ExpressionParser::parse_conditional() {
  int line = tokens_.line();
  const std::size_t unknown = unknown_.size();
  ExpressionPtr value = parse_or();
  while (tokens_.skip_name("if")) {
    ExpressionPtr condition = parse_or();
    ExpressionPtr otherwise;
    if (tokens_.skip_name("else")) {
      const Level level(*this);
      otherwise = parse_conditional();
    }
    value = checked(std::make_unique<Conditional>(line, std::move(condition), std::move(value),
                                                  std::move(otherwise)));
    line = tokens_.line();
    unknown_.resize(unknown);
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_or() {
  const int line = tokens_.line();
  ExpressionPtr left = parse_and();
  while (tokens_.skip_name("or")) {
    left = checked(std::make_unique<Logical>(line, false, std::move(left), parse_and()));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_and() {
  const int line = tokens_.line();
  ExpressionPtr left = parse_not();
  while (tokens_.skip_name("and")) {
    left = checked(std::make_unique<Logical>(line, true, std::move(left), parse_not()));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_not() {
  if (!tokens_.at_name("not")) return parse_comparison();
  const Level level(*this);
  const int line = tokens_.take().line;
  return checked(std::make_unique<Unary>(line, UnaryOperator::logical_not, parse_not()));
}

ExpressionPtr ExpressionParser::parse_comparison() {
  constexpr std::pair<std::string_view, ComparisonOperator> kOperators[] = {
      {"==", ComparisonOperator::equal},  {"!=", ComparisonOperator::not_equal},
      {"<", ComparisonOperator::less},    {"<=", ComparisonOperator::less_equal},
      {">", ComparisonOperator::greater}, {">=", ComparisonOperator::greater_equal},
  };
  const int line = tokens_.line();
  ExpressionPtr first = parse_sum();
  std::vector<Comparison::Link> links;
  for (;;) {
    std::optional<ComparisonOperator> operation;
    for (const auto& [symbol, meaning] : kOperators) {
      if (!operation && tokens_.skip_symbol(symbol)) operation = meaning;
    }
    if (!operation && tokens_.skip_name("in")) operation = ComparisonOperator::in;
    if (!operation && tokens_.at_name("not") && tokens_.follows_name("in")) {
      tokens_.take();
      tokens_.take();
      operation = ComparisonOperator::not_in;
    }
    if (!operation) break;
    links.emplace_back(*operation, parse_sum());
  }
  if (links.empty()) return first;
  return checked(std::make_unique<Comparison>(line, std::move(first), std::move(links)));
}

ExpressionPtr ExpressionParser::parse_sum() {
  const int line = tokens_.line();
  ExpressionPtr left = parse_concatenation();
  while (tokens_.at_symbol("+") || tokens_.at_symbol("-")) {
    const auto operation =
        tokens_.take().text == "+" ? BinaryOperator::add : BinaryOperator::subtract;
    left =
        checked(std::make_unique<Binary>(line, operation, std::move(left), parse_concatenation()));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_concatenation() {
  const int line = tokens_.line();
  ExpressionPtr first = parse_product();
  if (!tokens_.at_symbol("~")) return first;
  std::vector<ExpressionPtr> parts;
  parts.push_back(std::move(first));
  while (tokens_.skip_symbol("~")) parts.push_back(parse_product());
  return checked(std::make_unique<Concatenation>(line, std::move(parts)));
}

ExpressionPtr ExpressionParser::parse_product() {
  constexpr std::pair<std::string_view, BinaryOperator> kOperators[] = {
      {"*", BinaryOperator::multiply},
      {"/", BinaryOperator::divide},
      {"//", BinaryOperator::floor_divide},
      {"%", BinaryOperator::modulo},
  };
  const int line = tokens_.line();
  ExpressionPtr left = parse_power();
  for (;;) {
    std::optional<BinaryOperator> operation;
    for (const auto& [symbol, meaning] : kOperators) {
      if (!operation && tokens_.skip_symbol(symbol)) operation = meaning;
    }
    if (!operation) return left;
    left = checked(std::make_unique<Binary>(line, *operation, std::move(left), parse_power()));
  }
}

// Unlike Python's, Jinja's power is applied from left to right.
ExpressionPtr ExpressionParser::parse_power() {
  const int line = tokens_.line();
  ExpressionPtr left = parse_unary(true);
  while (tokens_.skip_symbol("**")) {
    left = checked(
        std::make_unique<Binary>(line, BinaryOperator::power, std::move(left), parse_unary(true)));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_unary(bool with_filters) {
  const int line = tokens_.line();
  ExpressionPtr expression;
  if (tokens_.at_symbol("-") || tokens_.at_symbol("+")) {
    const Level level(*this);
    const auto operation = tokens_.take().text == "-" ? UnaryOperator::negate : UnaryOperator::plus;
    expression = checked(std::make_unique<Unary>(line, operation, parse_unary(false)));
  } else {
    expression = parse_primary();
  }
  expression = parse_postfix(std::move(expression));
  return with_filters ? parse_filters_and_tests(std::move(expression)) : std::move(expression);
}

ExpressionPtr ExpressionParser::parse_primary() {
  const int line = tokens_.line();
  switch (tokens_.current().type) {
    case TokenType::name:
      return parse_name();
    case TokenType::string:
      return parse_string();
    case TokenType::integer:
      return std::make_unique<Literal>(line, Value::integer(tokens_.take().integer));
    case TokenType::real:
      return std::make_unique<Literal>(line, Value::real(tokens_.take().real));
    default:
      break;
  }
  if (tokens_.at_symbol("[")) return parse_list();
  if (tokens_.at_symbol("{")) return parse_dict();
  if (!tokens_.skip_symbol("(")) tokens_.fail_expecting("an expression");
  ExpressionPtr inside = parse_tuple(true, {}, true);
  tokens_.expect_symbol(")");
  return inside;
}

ExpressionPtr ExpressionParser::parse_name() {
  const Token& token = tokens_.take();
  const std::string& name = token.text;
  if (name == "true" || name == "True")
    return std::make_unique<Literal>(token.line, Value::boolean(true));
  if (name == "false" || name == "False")
    return std::make_unique<Literal>(token.line, Value::boolean(false));
  if (name == "none" || name == "None") return std::make_unique<Literal>(token.line, Value::none());
  for (MacroUse& macro : macros_) {
    macro.caller |= name == "caller";
    macro.varargs |= name == "varargs";
    macro.kwargs |= name == "kwargs";
  }
  return std::make_unique<Name>(token.line, name);
}

// Strings side by side are one string.
ExpressionPtr ExpressionParser::parse_string() {
  const int line = tokens_.line();
  std::string text;
  while (tokens_.at(TokenType::string)) text += tokens_.take().text;
  return std::make_unique<Literal>(line, std::move(text));
}

ExpressionPtr ExpressionParser::parse_list() {
  const int line = tokens_.take().line;
  std::vector<ExpressionPtr> items;
  while (!tokens_.at_symbol("]")) {
    if (!items.empty()) tokens_.expect_symbol(",");
    if (tokens_.at_symbol("]")) break;
    items.push_back(parse_expression());
  }
  tokens_.expect_symbol("]");
  return checked(std::make_unique<SequenceLiteral>(line, Kind::list, std::move(items)));
}

ExpressionPtr ExpressionParser::parse_dict() {
  const int line = tokens_.take().line;
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
  while (!tokens_.at_symbol("}")) {
    if (!entries.empty()) tokens_.expect_symbol(",");
    if (tokens_.at_symbol("}")) break;
    ExpressionPtr key = parse_expression();
    tokens_.expect_symbol(":");
    entries.emplace_back(std::move(key), parse_expression());
  }
  tokens_.expect_symbol("}");
  return checked(std::make_unique<DictLiteral>(line, std::move(entries)));
}

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr expression) {
  for (;;) {
    if (tokens_.at_symbol(".")) {
      expression = parse_dot(std::move(expression));
    } else if (tokens_.at_symbol("[")) {
      expression = parse_subscript(std::move(expression));
    } else if (tokens_.at_symbol("(")) {
      const int line = tokens_.line();
      expression =
          checked(std::make_unique<CallExpression>(line, std::move(expression), parse_arguments()));
    } else {
      return expression;
    }
  }
}

ExpressionPtr ExpressionParser::parse_filters_and_tests(ExpressionPtr expression) {
  for (;;) {
    if (tokens_.at_symbol("|")) {
      expression = parse_filters(std::move(expression), false);
    } else if (tokens_.at_name("is")) {
      expression = parse_test(std::move(expression));
    } else if (tokens_.at_symbol("(")) {
      const int line = tokens_.line();
      expression =
          checked(std::make_unique<CallExpression>(line, std::move(expression), parse_arguments()));
    } else {
      return expression;
    }
  }
}

ExpressionPtr ExpressionParser::parse_dot(ExpressionPtr expression) {
  const int line = tokens_.take().line;
  if (tokens_.at(TokenType::name)) {
    return checked(std::make_unique<Attribute>(line, std::move(expression), tokens_.take().text));
  }
  if (!tokens_.at(TokenType::integer)) tokens_.fail_expecting("a name or number after '.'");
  auto index = std::make_unique<Literal>(line, Value::integer(tokens_.take().integer));
  return checked(std::make_unique<Subscript>(line, std::move(expression), std::move(index)));
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr expression) {
  const int line = tokens_.take().line;
  const auto at_bound_end = [this] { return tokens_.at_symbol(":") || tokens_.at_symbol("]"); };
  ExpressionPtr start;
  if (!tokens_.at_symbol(":")) {
    start = parse_tuple();
    if (tokens_.skip_symbol("]")) {
      return checked(std::make_unique<Subscript>(line, std::move(expression), std::move(start)));
    }
  }
  tokens_.expect_symbol(":");
  ExpressionPtr stop = at_bound_end() ? nullptr : parse_expression();
  ExpressionPtr step;
  if (tokens_.skip_symbol(":") && !at_bound_end()) step = parse_expression();
  tokens_.expect_symbol("]");
  return checked(std::make_unique<SliceExpression>(line, std::move(expression), std::move(start),
                                                   std::move(stop), std::move(step)));
}

std::string ExpressionParser::parse_dotted_name(std::string_view what) {
  std::string name = tokens_.expect(TokenType::name, what).text;
  while (tokens_.skip_symbol(".")) name += "." + tokens_.expect(TokenType::name, what).text;
  return name;
}

std::unique_ptr<FilterExpression> ExpressionParser::parse_filters(ExpressionPtr subject,
                                                                  bool at_first_name) {
  std::unique_ptr<FilterExpression> filter;
  while (at_first_name || tokens_.skip_symbol("|")) {
    at_first_name = false;
    const int line = tokens_.line();
    std::string name = parse_dotted_name("the name of a filter");
    const Builtin* found = find_filter(name);
    if (found == nullptr) unknown_.push_back({"there is no filter named '" + name + "'", line});
    ArgumentList arguments;
    if (tokens_.at_symbol("(")) arguments = parse_arguments();
    filter = checked(std::make_unique<FilterExpression>(line, std::move(subject), std::move(name),
                                                        found, std::move(arguments)));
    if (tokens_.at_symbol("|")) subject = std::move(filter);
  }
  return filter;
}

ExpressionPtr ExpressionParser::parse_test(ExpressionPtr expression) {
  const int line = tokens_.take().line;
  const bool negated = tokens_.skip_name("not");
  std::string name = parse_dotted_name("the name of a test");
  const Builtin* found = find_test(name);
  if (found == nullptr) unknown_.push_back({"there is no test named '" + name + "'", line});
  ArgumentList arguments;
  if (tokens_.at_symbol("(")) {
    arguments = parse_arguments();
  } else if (tokens_.at_name("is")) {
    raise("tests cannot be chained with 'is'", line);
  } else if ((tokens_.at(TokenType::name) && !tokens_.at_name("else") && !tokens_.at_name("or") &&
              !tokens_.at_name("and")) ||
             tokens_.at(TokenType::string) || tokens_.at(TokenType::integer) ||
             tokens_.at(TokenType::real) || tokens_.at_symbol("[") || tokens_.at_symbol("{")) {
    const Level level(*this);
    arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  ExpressionPtr test = checked(std::make_unique<TestExpression>(
      line, std::move(expression), std::move(name), found, std::move(arguments)));
  if (!negated) return test;
  return checked(std::make_unique<Unary>(line, UnaryOperator::logical_not, std::move(test)));
}

ArgumentList ExpressionParser::parse_arguments() {
  const int line = tokens_.line();
  ArgumentList arguments;
  tokens_.expect_symbol("(");
  bool first = true;
  while (!tokens_.at_symbol(")")) {
    if (!first) tokens_.expect_symbol(",");
    if (tokens_.at_symbol(")")) break;
    first = false;
    const bool named = tokens_.at(TokenType::name) && tokens_.follows_symbol("=");
    const bool valid = tokens_.at_symbol("**") || named
                           ? !arguments.more_named
                           : !arguments.more_positional && !arguments.more_named &&
                                 (tokens_.at_symbol("*") || arguments.named.empty());
    if (!valid) raise("the arguments of a call are in the wrong order", line);
    if (tokens_.skip_symbol("**")) {
      arguments.more_named = parse_expression();
    } else if (tokens_.skip_symbol("*")) {
      arguments.more_positional = parse_expression();
    } else if (named) {
      std::string name = tokens_.take().text;
      tokens_.take();
      for (const auto& given : arguments.named) {
        if (given.first == name) raise("the argument '" + name + "' is passed twice", line);
      }
      arguments.named.emplace_back(std::move(name), parse_expression());
    } else {
      arguments.positional.push_back(parse_expression());
    }
  }
  tokens_.expect_symbol(")");
  return arguments;
}

}  // namespace halogen::jinja
