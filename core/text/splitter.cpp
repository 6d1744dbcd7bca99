#include "core/text/splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <utility>

#include <pcre2.h>

#include "core/text/utf8.h"

namespace halogen::text {

namespace {

template <auto Free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using Code = std::unique_ptr<pcre2_code, FreeWith<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, FreeWith<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, FreeWith<pcre2_match_context_free>>;

struct Expression {
  Code code;
  bool compiled_to_machine_code = false;
};

std::string pcre2_message(int code) {
  PCRE2_UCHAR message[256] = {};
  pcre2_get_error_message(code, message, sizeof(message));
  return reinterpret_cast<const char*>(message);
}

// PCRE2's \s includes U+180E, which Unicode took off the list of white space and the tokenizers'
// own engines do not count.
std::string with_unicode_white_space(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    out.push_back(pattern[i]);
    if (pattern[i] != '\\' || i + 1 == pattern.size()) continue;
    const char escaped = pattern[++i];
    if (escaped == 's') {
      out += "p{White_Space}";
    } else if (escaped == 'S') {
      out += "P{White_Space}";
    } else {
      out.push_back(escaped);
    }
  }
  return out;
}

Result<Expression> compile(std::string_view pattern) {
  const std::string translated = with_unicode_white_space(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  Expression expression;
  expression.code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()),
                                      translated.size(), PCRE2_UTF | PCRE2_UCP, &error, &offset,
                                      nullptr));
  if (!expression.code) {
    return fail(HALOGEN_E_INVALID, "the tokenizer's regular expression '" + translated +
                                       "' is wrong at byte " + std::to_string(offset) + ": " +
                                       pcre2_message(error));
  }
  expression.compiled_to_machine_code =
      pcre2_jit_compile(expression.code.get(), PCRE2_JIT_COMPLETE) == 0;
  return expression;
}

}  // namespace

struct Splitter::Compiled {
  std::vector<Expression> expressions;
  MatchContext context;

  // Finds the next match at or after `from`: 1, 0 when there is none, or PCRE2's error.
  int next_match(const Expression& expression, std::string_view text, size_t from,
                 pcre2_match_data* data) const;

  // Cuts the piece [begin, end) of text, appending the ends of its parts.
  Status cut(const Expression& expression, std::string_view text, uint32_t begin, uint32_t end,
             pcre2_match_data* data, std::vector<uint32_t>& ends) const;

  // Cuts the valid text [begin, end) with all expressions.
  Status cut_with_all(std::string_view text, uint32_t begin, uint32_t end, pcre2_match_data* data,
                      std::vector<uint32_t>& ends) const;
};

int Splitter::Compiled::next_match(const Expression& expression, std::string_view text, size_t from,
                                   pcre2_match_data* data) const {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (expression.compiled_to_machine_code) {
    found =
        pcre2_jit_match(expression.code.get(), subject, text.size(), from, 0, data, context.get());
  }
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter's memory is the heap
    found = pcre2_match(expression.code.get(), subject, text.size(), from,
                        PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, context.get());
  }
  if (found == PCRE2_ERROR_NOMATCH) return 0;
  return found < 0 ? found : 1;
}

Status Splitter::Compiled::cut(const Expression& expression, std::string_view text, uint32_t begin,
                               uint32_t end, pcre2_match_data* data,
                               std::vector<uint32_t>& ends) const {
  const std::string_view piece = text.substr(begin, end - begin);
  const PCRE2_SIZE* match = pcre2_get_ovector_pointer(data);
  size_t cut_at = 0;
  size_t from = 0;
  while (from < piece.size()) {
    const int found = next_match(expression, piece, from, data);
    if (found < 0) {
      return fail(HALOGEN_E_INTERNAL, "splitting text of " + std::to_string(piece.size()) +
                                          " bytes into words failed at byte " +
                                          std::to_string(from) + ": " + pcre2_message(found));
    }
    if (found == 0) break;
    if (match[1] == match[0]) {  // an empty match cuts nothing; look for the next one further on
      from =
          match[1] + (match[1] < piece.size() ? read_character(piece.substr(match[1])).length : 1);
      continue;
    }
    if (match[0] > cut_at) ends.push_back(begin + static_cast<uint32_t>(match[0]));
    ends.push_back(begin + static_cast<uint32_t>(match[1]));
    cut_at = from = match[1];
  }
  if (cut_at < piece.size()) ends.push_back(end);
  return {};
}

Status Splitter::Compiled::cut_with_all(std::string_view text, uint32_t begin, uint32_t end,
                                        pcre2_match_data* data, std::vector<uint32_t>& ends) const {
  std::vector<uint32_t> pieces = {end};
  std::vector<uint32_t> cut_pieces;
  for (const Expression& expression : expressions) {
    const bool last = &expression == &expressions.back();
    std::vector<uint32_t>& out = last ? ends : cut_pieces;
    uint32_t piece_begin = begin;
    for (const uint32_t piece_end : pieces) {
      if (Status s = cut(expression, text, piece_begin, piece_end, data, out); !s) return s;
      piece_begin = piece_end;
    }
    pieces.swap(cut_pieces);
    cut_pieces.clear();
  }
  return {};
}

Result<Splitter> Splitter::create(std::span<const std::string> patterns) {
  auto compiled = std::make_unique<Compiled>();
  for (const std::string& pattern : patterns) {
    Result<Expression> expression = compile(pattern);
    if (!expression) return expression.error();
    compiled->expressions.push_back(std::move(*expression));
  }
  compiled->context.reset(pcre2_match_context_create(nullptr));
  if (compiled->expressions.empty() || !compiled->context) {
    return fail(HALOGEN_E_INVALID, "a tokenizer needs at least one expression to split text with");
  }
  // The expressions are linear; the limits only guard against ones that are not.
  pcre2_set_match_limit(compiled->context.get(), UINT32_MAX);
  return Splitter(std::move(compiled));
}

Splitter::Splitter(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Splitter::Splitter(Splitter&&) noexcept = default;
Splitter& Splitter::operator=(Splitter&&) noexcept = default;
Splitter::~Splitter() = default;

Status Splitter::split(std::string_view text, std::vector<uint32_t>& ends) const {
  const MatchData data(pcre2_match_data_create(1, nullptr));
  if (!data) return fail(HALOGEN_E_NO_MEMORY, "splitting text into words: out of memory");

  const auto size = static_cast<uint32_t>(text.size());
  uint32_t begin = 0;
  while (begin < size) {
    const auto valid_end = begin + static_cast<uint32_t>(valid_prefix(text.substr(begin)));
    if (valid_end > begin) {
      if (Status s = compiled_->cut_with_all(text, begin, valid_end, data.get(), ends); !s)
        return s;
    }
    uint32_t invalid_end = valid_end;
    while (invalid_end < size) {
      const Utf8Character character = read_character(text.substr(invalid_end));
      if (character.state == Utf8::kValid) break;
      invalid_end += character.length;
    }
    if (invalid_end > valid_end) ends.push_back(invalid_end);
    begin = invalid_end;
  }
  return {};
}

}  // namespace halogen::text
