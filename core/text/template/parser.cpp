// Recursive descent over statements.
#include "core/text/template/parser.h"

#include <algorithm>
#include <initializer_list>

#include "core/text/template/expression_parser.h"
#include "core/text/template/lexer.h"

namespace halogen::jinja {

namespace {

class StatementParser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Body parse() {
    Body body = parse_until({});
    if (!tokens_.at(TokenType::end)) tokens_.fail_expecting("the end of the template");
    if (!unknown_.empty()) throw unknown_.front();
    return body;
  }

 private:
  using EndTags = std::initializer_list<std::string_view>;

  Body parse_until(EndTags end_tags);
  // The body after the rest of an opening tag; stops at the name of the tag that ends it.
  Body parse_body(std::string_view opening, int line, EndTags end_tags);
  // The same for a body with only one end tag, which is taken.
  Body parse_whole_body(std::string_view opening, int line, std::string_view end_tag);

  std::unique_ptr<Statement> parse_statement();
  std::unique_ptr<Statement> parse_print(int line);
  std::unique_ptr<Statement> parse_if(int line);
  std::unique_ptr<Statement> parse_for(int line);
  std::unique_ptr<Statement> parse_set(int line);
  std::unique_ptr<Statement> parse_macro(int line);
  std::unique_ptr<Statement> parse_call(int line);
  std::unique_ptr<Statement> parse_filter(int line);
  std::unique_ptr<Statement> parse_with(int line);
  std::unique_ptr<Statement> parse_block(int line);
  std::unique_ptr<Statement> parse_scoped(const std::string& tag, int line);
  std::unique_ptr<Statement> parse_loop_control(Flow flow, int line);

  Target parse_target(std::string_view end_name, bool allow_attribute);
  Target parse_single_target();
  std::string parse_name(std::string_view what);
  std::vector<Parameter> parse_parameters();
  void parse_macro_body(MacroDefinition& definition, std::string_view tag, int line);

  int loop_depth_ = 0;
};

Body StatementParser::parse_until(EndTags end_tags) {
  const Level level(*this);
  Body body;
  for (;;) {
    const int line = tokens_.line();
    switch (tokens_.current().type) {
      case TokenType::data:
        body.push_back(std::make_unique<Text>(line, tokens_.take().text));
        break;
      case TokenType::variable_begin:
        tokens_.take();
        body.push_back(std::make_unique<Print>(line, parse_tuple()));
        tokens_.expect(TokenType::variable_end, "the end of the tag '}}'");
        break;
      case TokenType::block_begin: {
        tokens_.take();
        const auto ends = [this](std::string_view tag) { return tokens_.at_name(tag); };
        if (std::any_of(end_tags.begin(), end_tags.end(), ends)) return body;
        body.push_back(parse_statement());
        tokens_.expect(TokenType::block_end, "the end of the tag '%}'");
        break;
      }
      default:
        return body;
    }
  }
}

Body StatementParser::parse_body(std::string_view opening, int line, EndTags end_tags) {
  tokens_.skip_symbol(":");
  tokens_.expect(TokenType::block_end, "the end of the tag '%}'");
  Body body = parse_until(end_tags);
  if (tokens_.at(TokenType::end)) {
    raise("the '" + std::string(opening) + "' opened here is not closed with '" +
              std::string(*(end_tags.end() - 1)) + "'",
          line);
  }
  return body;
}

Body StatementParser::parse_whole_body(std::string_view opening, int line,
                                       std::string_view end_tag) {
  Body body = parse_body(opening, line, {end_tag});
  tokens_.take();
  return body;
}

std::unique_ptr<Statement> StatementParser::parse_statement() {
  const Token& tag = tokens_.expect(TokenType::name, "the name of a tag");
  const int line = tag.line;
  const std::string& name = tag.text;
  if (name == "print") return parse_print(line);
  if (name == "if") return parse_if(line);
  if (name == "for") return parse_for(line);
  if (name == "set") return parse_set(line);
  if (name == "macro") return parse_macro(line);
  if (name == "call") return parse_call(line);
  if (name == "filter") return parse_filter(line);
  if (name == "with") return parse_with(line);
  if (name == "block") return parse_block(line);
  if (name == "generation" || name == "autoescape") return parse_scoped(name, line);
  if (name == "break") return parse_loop_control(Flow::break_loop, line);
  if (name == "continue") return parse_loop_control(Flow::continue_loop, line);
  if (name == "include" || name == "import" || name == "from" || name == "extends") {
    raise("'" + name + "' is not possible: a chat template stands alone", line);
  }
  raise("unknown or misplaced tag '" + name + "'", line);
}

std::unique_ptr<Statement> StatementParser::parse_print(int line) {
  std::vector<ExpressionPtr> parts;
  while (!tokens_.at(TokenType::block_end)) {
    if (!parts.empty()) tokens_.expect_symbol(",");
    parts.push_back(parse_expression());
  }
  return std::make_unique<Print>(line, std::make_unique<Concatenation>(line, std::move(parts)));
}

std::unique_ptr<Statement> StatementParser::parse_if(int line) {
  auto statement = std::make_unique<If>(line);
  const std::size_t unknown = unknown_.size();
  for (std::string tag = "if"; tag != "endif";) {
    if (tag == "else") {
      statement->otherwise = parse_whole_body("if", line, "endif");
      break;
    }
    ExpressionPtr condition = parse_tuple(false);
    Body body = parse_body("if", line, {"elif", "else", "endif"});
    statement->branches.push_back({std::move(condition), std::move(body)});
    tag = tokens_.take().text;
  }
  unknown_.resize(unknown);
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_for(int line) {
  auto statement = std::make_unique<For>(line);
  statement->target = parse_target("in", false);
  tokens_.expect_name("in");
  statement->iterable_expression = parse_tuple(false, "recursive");
  if (tokens_.skip_name("if")) statement->filter = parse_expression();
  statement->recursive = tokens_.skip_name("recursive");
  ++loop_depth_;
  statement->body = parse_body("for", line, {"else", "endfor"});
  --loop_depth_;
  if (tokens_.take().text == "else") statement->otherwise = parse_whole_body("for", line, "endfor");
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_set(int line) {
  Target target = parse_target({}, true);
  if (tokens_.skip_symbol("="))
    return std::make_unique<Set>(line, std::move(target), parse_tuple());
  auto statement = std::make_unique<SetBlock>(line);
  statement->target = std::move(target);
  statement->filter = parse_filters(nullptr, false);
  statement->body = parse_whole_body("set", line, "endset");
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_macro(int line) {
  auto statement = std::make_unique<Macro>(line);
  statement->definition.name = parse_name("the name of the macro");
  statement->definition.parameters = parse_parameters();
  parse_macro_body(statement->definition, "macro", line);
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_call(int line) {
  auto statement = std::make_unique<CallBlock>(line);
  statement->definition.name = "caller";
  if (tokens_.at_symbol("(")) statement->definition.parameters = parse_parameters();
  ExpressionPtr expression = parse_expression();
  auto* call = dynamic_cast<CallExpression*>(expression.get());
  if (call == nullptr) raise("'call' must be followed by a call", line);
  [[maybe_unused]] Expression* same = expression.release();  // `call` is the same object
  statement->call.reset(call);
  parse_macro_body(statement->definition, "call", line);
  return statement;
}

void StatementParser::parse_macro_body(MacroDefinition& definition, std::string_view tag,
                                       int line) {
  const int outer_loops = std::exchange(loop_depth_, 0);
  macros_.emplace_back();
  definition.body = parse_whole_body(tag, line, "end" + std::string(tag));
  definition.uses_caller = macros_.back().caller;
  definition.uses_varargs = macros_.back().varargs;
  definition.uses_kwargs = macros_.back().kwargs;
  macros_.pop_back();
  loop_depth_ = outer_loops;
}

std::unique_ptr<Statement> StatementParser::parse_filter(int line) {
  auto statement = std::make_unique<FilterBlock>(line);
  statement->filter = parse_filters(nullptr, true);
  statement->body = parse_whole_body("filter", line, "endfilter");
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_with(int line) {
  auto statement = std::make_unique<With>(line);
  while (!tokens_.at(TokenType::block_end)) {
    if (!statement->assignments.empty()) tokens_.expect_symbol(",");
    Target target = parse_single_target();
    tokens_.expect_symbol("=");
    statement->assignments.emplace_back(std::move(target), parse_expression());
  }
  statement->body = parse_whole_body("with", line, "endwith");
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_block(int line) {
  auto statement = std::make_unique<ScopedBody>(line);
  const std::string name = parse_name("the name of the block");
  tokens_.skip_name("scoped");
  tokens_.skip_name("required");
  statement->body = parse_whole_body("block", line, "endblock");
  tokens_.skip_name(name);
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_scoped(const std::string& tag, int line) {
  auto statement = std::make_unique<ScopedBody>(line);
  if (tag == "autoescape") {
    // Output of a chat template is text, not HTML, and the tag is there to say so.
    if (!tokens_.skip_name("false")) raise("only 'autoescape false' is supported", line);
  }
  statement->body = parse_whole_body(tag, line, "end" + tag);
  return statement;
}

std::unique_ptr<Statement> StatementParser::parse_loop_control(Flow flow, int line) {
  if (loop_depth_ == 0) {
    raise(std::string("'") + (flow == Flow::break_loop ? "break" : "continue") + "' outside a loop",
          line);
  }
  return std::make_unique<LoopControl>(line, flow);
}

std::string StatementParser::parse_name(std::string_view what) {
  const Token& token = tokens_.expect(TokenType::name, what);
  constexpr std::string_view kConstants[] = {"true", "True", "false", "False", "none", "None"};
  for (const std::string_view constant : kConstants) {
    if (token.text == constant) raise("cannot assign to '" + token.text + "'", token.line);
  }
  return token.text;
}

Target StatementParser::parse_single_target() {
  const Level level(*this);
  Target target;
  target.line = tokens_.line();
  if (tokens_.skip_symbol("(")) {
    target = parse_target({}, false);
    tokens_.expect_symbol(")");
  } else {
    target.name = parse_name("a name to assign to");
  }
  return target;
}

Target StatementParser::parse_target(std::string_view end_name, bool allow_attribute) {
  if (allow_attribute && tokens_.follows_symbol(".")) {
    Target target;
    target.line = tokens_.line();
    target.name = parse_name("a name to assign to");
    tokens_.expect_symbol(".");
    target.attribute = tokens_.expect(TokenType::name, "the name of an attribute").text;
    return target;
  }
  Target first = parse_single_target();
  if (!tokens_.at_symbol(",")) return first;
  Target target;
  target.line = first.line;
  target.is_tuple = true;
  target.parts.push_back(std::move(first));
  while (tokens_.skip_symbol(",")) {
    if (tokens_.at_symbol("=") || tokens_.at_symbol(")") || tokens_.at_tag_end() ||
        (!end_name.empty() && tokens_.at_name(end_name))) {
      break;
    }
    target.parts.push_back(parse_single_target());
  }
  return target;
}

std::vector<Parameter> StatementParser::parse_parameters() {
  std::vector<Parameter> parameters;
  tokens_.expect_symbol("(");
  while (!tokens_.at_symbol(")")) {
    if (!parameters.empty()) tokens_.expect_symbol(",");
    Parameter parameter;
    parameter.name = parse_name("the name of a parameter");
    if (tokens_.skip_symbol("=")) {
      parameter.fallback = parse_expression();
    } else if (!parameters.empty() && parameters.back().fallback) {
      raise("the parameter '" + parameter.name + "' needs a default, as the one before it has one",
            tokens_.line());
    }
    parameters.push_back(std::move(parameter));
  }
  tokens_.expect_symbol(")");
  return parameters;
}

}  // namespace

Body parse_template(std::string_view source) {
  return StatementParser(tokenize(source)).parse();
}

}  // namespace halogen::jinja
