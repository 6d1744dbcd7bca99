// The expression grammar, with Jinja's precedences (from loosest to tightest):
//   a if b else c;  or;  and;  not;  comparisons, in;  + -;  ~;  * / // %;  **;  unary;  postfix;
//   | is
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/text/template/statements.h"
#include "core/text/template/token_stream.h"

namespace halogen::jinja {

// The parser recurses as deep as brackets nest, and renders as deep as the tree is.
constexpr int kMaxNesting = 150;
constexpr int kMaxTreeDepth = 600;

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  // A level of recursion of the parser, statements included.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) {
        raise("the template nests too deeply, more than " + std::to_string(kMaxNesting) + " levels",
              parser_.tokens_.line());
      }
    }
    ~Level() { --parser_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ExpressionParser& parser_;
  };

  // Which implicit variables the macros around the current place read; see MacroDefinition.
  struct MacroUse {
    bool caller = false;
    bool varargs = false;
    bool kwargs = false;
  };

  ExpressionPtr parse_expression(bool with_conditional = true);
  // One expression, or several with commas between them, which make a tuple. Ends before
  // `end_name`.
  ExpressionPtr parse_tuple(bool with_conditional = true, std::string_view end_name = {},
                            bool in_parentheses = false);
  // A chain of filters on `subject`, each after a '|'; the first '|' is absent in a filter block.
  std::unique_ptr<FilterExpression> parse_filters(ExpressionPtr subject, bool at_first_name);

  TokenStream tokens_;
  std::vector<MacroUse> macros_;
  // Unknown filters and tests so far. As in Jinja, they fail the template even when never reached,
  // unless an `if` around them may be there to avoid them.
  std::vector<Failure> unknown_;

 private:
  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filters);
  ExpressionPtr parse_primary();
  ExpressionPtr parse_name();
  ExpressionPtr parse_string();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_postfix(ExpressionPtr expression);
  ExpressionPtr parse_filters_and_tests(ExpressionPtr expression);
  ExpressionPtr parse_dot(ExpressionPtr expression);
  ExpressionPtr parse_subscript(ExpressionPtr expression);
  ExpressionPtr parse_test(ExpressionPtr expression);
  ArgumentList parse_arguments();
  std::string parse_dotted_name(std::string_view what);
  bool at_tuple_end(std::string_view end_name) const;

  template <typename T>
  std::unique_ptr<T> checked(std::unique_ptr<T> node) const {
    if (node->depth > kMaxTreeDepth) {
      raise("an expression is too long or nests too deeply, more than " +
                std::to_string(kMaxTreeDepth) + " levels",
            node->line);
    }
    return node;
  }

  int nesting_ = 0;
};

}  // namespace halogen::jinja
