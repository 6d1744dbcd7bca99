// Template source -> tokens, with white space control applied.
//
// The environment is the one chat templates are written for: trim_blocks (the newline after a block
// or comment tag goes) and lstrip_blocks (blanks before a tag that starts a line go), both
// overruled by a minus or plus sign in the tag; one newline at the end of the template is dropped;
// every kind of newline counts as "\n".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halogen::jinja {

enum class TokenType : std::uint8_t {
  data,            // text outside tags, in Token::text
  variable_begin,  // {{
  variable_end,    // }}
  block_begin,     // {%
  block_end,       // %}
  name,
  string,   // Token::text is the text with its escapes resolved
  integer,  // Token::integer
  real,     // Token::real
  symbol,   // an operator or bracket, in Token::text
  end,
};

struct Token {
  TokenType type = TokenType::end;
  int line = 0;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
};

// The tokens of `source`, the last one being `end`. Throws Failure with the line of what it cannot
// read.
std::vector<Token> tokenize(std::string_view source);

// A token for messages: "'endif'", "end of the tag".
std::string describe(const Token& token);

}  // namespace halogen::jinja
