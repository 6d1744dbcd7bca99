// The parser's view of the tokens: where it is, and what it expects there.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/template/budget.h"
#include "core/text/template/lexer.h"

namespace halogen::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  int line() const { return current().line; }

  bool at(TokenType type) const { return current().type == type; }
  bool at_symbol(std::string_view symbol) const { return is(current(), TokenType::symbol, symbol); }
  bool at_name(std::string_view name) const { return is(current(), TokenType::name, name); }
  bool at_tag_end() const { return at(TokenType::variable_end) || at(TokenType::block_end); }
  bool follows_name(std::string_view name) const { return is(following(), TokenType::name, name); }
  bool follows_symbol(std::string_view symbol) const {
    return is(following(), TokenType::symbol, symbol);
  }

  // Returns the current token and goes to the next; stays on the last one.
  const Token& take() {
    const Token& token = current();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool skip_symbol(std::string_view symbol) { return at_symbol(symbol) && (take(), true); }
  bool skip_name(std::string_view name) { return at_name(name) && (take(), true); }

  void expect_symbol(std::string_view symbol) {
    if (!skip_symbol(symbol)) fail_expecting("'" + std::string(symbol) + "'");
  }
  void expect_name(std::string_view name) {
    if (!skip_name(name)) fail_expecting("'" + std::string(name) + "'");
  }
  const Token& expect(TokenType type, std::string_view what) {
    if (!at(type)) fail_expecting(std::string(what));
    return take();
  }

  [[noreturn]] void fail_expecting(const std::string& what) const {
    raise("expected " + what + ", found " + describe(current()), line());
  }

 private:
  static bool is(const Token& token, TokenType type, std::string_view text) {
    return token.type == type && token.text == text;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace halogen::jinja
