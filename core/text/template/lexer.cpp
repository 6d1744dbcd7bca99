// The states of the lexer: text, comment, raw block, and the inside of a tag.
#include "core/text/template/lexer.h"

#include <algorithm>

#include "core/text/template/budget.h"
#include "core/text/template/literals.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

std::string normalize_newlines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text.push_back(source[i]);
      continue;
    }
    text.push_back('\n');
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)), text_(source_) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) read_text();
    emit(TokenType::end);
    return std::move(tokens_);
  }

 private:
  void read_text();
  void read_comment();
  void read_raw();
  void read_tag(TokenType end_type, std::string_view close);
  void read_token();
  void read_symbol();

  bool starts_with(std::size_t at, std::string_view what) const {
    return text_.substr(at, what.size()) == what;
  }
  std::size_t skip_space(std::size_t at) const {
    return text_.size() - strip_left(text_.substr(at)).size();
  }

  // Moves to byte `to`, counting lines.
  void advance(std::size_t to) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  // Past the end of a tag whose closing mark starts at `at`, or 0 when there is none: "-%}" eats
  // the white space after it, "%}" one newline (if `trim`), "+%}" (if `plus`) nothing.
  std::size_t past_close(std::size_t at, std::string_view close, bool plus, bool trim) const {
    if (at < text_.size() && text_[at] == '-' && starts_with(at + 1, close)) {
      return skip_space(at + 1 + close.size());
    }
    if (plus && at < text_.size() && text_[at] == '+' && starts_with(at + 1, close)) {
      return at + 1 + close.size();
    }
    if (!starts_with(at, close)) return 0;
    at += close.size();
    return trim && at < text_.size() && text_[at] == '\n' ? at + 1 : at;
  }

  // Past a "{% raw %}" that starts at `at`, or 0.
  std::size_t past_raw_begin(std::size_t at) const;

  void emit_text(std::size_t end, char sign, bool strip_blanks);
  void emit(TokenType type, std::string text = {}) {
    tokens_.push_back({type, line_, std::move(text)});
  }

  std::string source_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // the last match ended a line, so blanks before the next tag may go
  std::vector<char> brackets_;
  std::vector<Token> tokens_;
};

std::size_t Lexer::past_raw_begin(std::size_t at) const {
  if (!starts_with(at, "{%")) return 0;
  at += 2;
  if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
  at = skip_space(at);
  if (!starts_with(at, "raw")) return 0;
  return past_close(skip_space(at + 3), "%}", false, false);
}

// The text from here to `end`, where a tag with `sign` begins.
void Lexer::emit_text(std::size_t end, char sign, bool strip_blanks) {
  std::string_view text = text_.substr(at_, end - at_);
  if (sign == '-') {
    text = strip_right(text);
  } else if (sign != '+' && strip_blanks) {
    const std::size_t newline = text.rfind('\n');
    const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    if ((line > 0 || line_starting_) && strip_left(text.substr(line)).empty()) {
      text = text.substr(0, line);
    }
  }
  if (!text.empty()) emit(TokenType::data, std::string(text));
  advance(end);
}

void Lexer::read_text() {
  std::size_t tag = text_.find('{', at_);
  while (tag != std::string_view::npos && tag + 1 < text_.size() && text_[tag + 1] != '%' &&
         text_[tag + 1] != '{' && text_[tag + 1] != '#') {
    tag = text_.find('{', tag + 1);
  }
  if (tag == std::string_view::npos || tag + 1 >= text_.size()) {
    emit(TokenType::data, std::string(text_.substr(at_)));
    advance(text_.size());
    return;
  }
  const char kind = text_[tag + 1];
  const char next = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
  const char sign = next == '-' || next == '+' ? next : '\0';
  const std::size_t inside = tag + 2 + (sign != '\0' ? 1 : 0);
  const std::size_t raw = past_raw_begin(tag);
  emit_text(tag, sign, kind != '{');
  if (raw != 0) {
    line_starting_ = text_[raw - 1] == '\n';
    advance(raw);
    read_raw();
  } else if (kind == '#') {
    advance(inside);
    read_comment();
  } else {
    emit(kind == '{' ? TokenType::variable_begin : TokenType::block_begin);
    advance(inside);
    read_tag(kind == '{' ? TokenType::variable_end : TokenType::block_end,
             kind == '{' ? "}}" : "%}");
  }
}

void Lexer::read_comment() {
  for (std::size_t at = at_; at < text_.size(); ++at) {
    const std::size_t past = past_close(at, "#}", true, true);
    if (past == 0) continue;
    advance(past);
    line_starting_ = text_[past - 1] == '\n';
    return;
  }
  raise("a comment is not closed with '#}'", line_);
}

void Lexer::read_raw() {
  for (std::size_t tag = text_.find("{%", at_); tag != std::string_view::npos;
       tag = text_.find("{%", tag + 1)) {
    std::size_t at = tag + 2;
    const char sign =
        at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
    at = skip_space(at + (sign != '\0' ? 1 : 0));
    if (!starts_with(at, "endraw")) continue;
    const std::size_t past = past_close(skip_space(at + 6), "%}", true, true);
    if (past == 0) continue;
    emit_text(tag, sign, true);
    advance(past);
    line_starting_ = text_[past - 1] == '\n';
    return;
  }
  raise("a 'raw' block is not closed with 'endraw'", line_);
}

void Lexer::read_tag(TokenType end_type, std::string_view close) {
  const bool block = end_type == TokenType::block_end;
  const int opened = line_;
  brackets_.clear();
  for (;;) {
    // Inside brackets "}}" is two closing braces, not the end of the tag.
    const std::size_t past = brackets_.empty() ? past_close(at_, close, block, block) : 0;
    if (past != 0) {
      emit(end_type);
      advance(past);
      line_starting_ = text_[past - 1] == '\n';
      return;
    }
    if (at_ >= text_.size()) {
      raise("the tag opened here is not closed with '" + std::string(close) + "'", opened);
    }
    const std::size_t space = skip_space(at_);
    if (space > at_) {
      advance(space);
    } else {
      read_token();
    }
  }
}

void Lexer::read_token() {
  const char32_t first = code_point(text_, at_);
  if (is_digit(first)) {
    Token token;
    token.line = line_;
    const NumberLiteral number = read_number(text_, at_, line_);
    token.type = number.is_real ? TokenType::real : TokenType::integer;
    token.integer = number.integer;
    token.real = number.real;
    tokens_.push_back(std::move(token));
    advance(number.end);
  } else if (first == '_' || is_alphanumeric(first)) {
    std::size_t end = at_;
    while (end < text_.size()) {
      const char32_t c = code_point(text_, end);
      if (c != '_' && !is_alphanumeric(c)) break;
      end += code_point_size(text_, end);
    }
    emit(TokenType::name, std::string(text_.substr(at_, end - at_)));
    advance(end);
  } else if (first == '\'' || first == '"') {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != text_[at_]) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) raise("a string is not closed", line_);
    emit(TokenType::string, unescape(text_.substr(at_ + 1, end - at_ - 1), line_));
    advance(end + 1);
  } else {
    read_symbol();
  }
}

void Lexer::read_symbol() {
  constexpr std::string_view kDouble[] = {"//", "**", "==", "!=", ">=", "<="};
  constexpr std::string_view kSingle = "+-/*%~[](){}><=.:|,;";
  for (const std::string_view symbol : kDouble) {
    if (starts_with(at_, symbol)) {
      emit(TokenType::symbol, std::string(symbol));
      advance(at_ + 2);
      return;
    }
  }
  const char c = text_[at_];
  if (kSingle.find(c) == std::string_view::npos) {
    raise("unexpected character '" + std::string(text_.substr(at_, code_point_size(text_, at_))) +
              "' in a tag",
          line_);
  }
  if (c == '(') brackets_.push_back(')');
  if (c == '[') brackets_.push_back(']');
  if (c == '{') brackets_.push_back('}');
  if (c == ')' || c == ']' || c == '}') {
    if (brackets_.empty()) raise("unexpected '" + std::string(1, c) + "'", line_);
    if (brackets_.back() != c) {
      raise("unexpected '" + std::string(1, c) + "', expected '" +
                std::string(1, brackets_.back()) + "'",
            line_);
    }
    brackets_.pop_back();
  }
  emit(TokenType::symbol, std::string(1, c));
  advance(at_ + 1);
}

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).run();
}

std::string describe(const Token& token) {
  switch (token.type) {
    case TokenType::data:
      return "text";
    case TokenType::variable_begin:
      return "'{{'";
    case TokenType::block_begin:
      return "'{%'";
    case TokenType::variable_end:
    case TokenType::block_end:
      return "the end of the tag";
    case TokenType::string:
      return "a string";
    case TokenType::integer:
    case TokenType::real:
      return "a number";
    case TokenType::end:
      return "the end of the template";
    default:
      return "'" + token.text + "'";
  }
}

}  // namespace halogen::jinja
