#include "core/api/logprobs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/text/utf8.h"

namespace halogen::api {
namespace {

constexpr double kLeast = -9999.0;  // JSON has no infinity

double finite(float logprob) {
  return std::isfinite(logprob) ? static_cast<double>(logprob) : kLeast;
}

Json describe(int32_t token, float logprob, const text::Tokenizer& tokenizer) {
  const std::string_view piece = tokenizer.piece(token);
  Json bytes = Json::array();
  for (const char byte : piece) bytes.push_back(static_cast<uint8_t>(byte));
  return Json{
      {"token", std::string(piece)}, {"logprob", finite(logprob)}, {"bytes", std::move(bytes)}};
}

// A token as a key of text completions' top_logprobs: its text, or, where its bytes are no text by
// themselves, OpenAI's "bytes:\\xe2\\x96". So two halves of characters do not become one key.
std::string key_of(std::string_view piece) {
  if (text::valid_prefix(piece) == piece.size()) return std::string(piece);
  static constexpr char digits[] = "0123456789abcdef";
  std::string key = "bytes:";
  for (const char c : piece) {
    const auto byte = static_cast<uint8_t>(c);
    key += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return key;
}

// The most likely tokens at position `i` of the event.
std::vector<TokenLogprob> best(const GenerationEvent& event, size_t i, int32_t top) {
  const auto first = event.top_logprobs.begin() + static_cast<ptrdiff_t>(i) * top;
  return {first, first + top};
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void add_chat_logprobs(const GenerationEvent& event, int32_t top, const text::Tokenizer& tokenizer,
                       Json& target) {
  if (target.is_null()) target = Json{{"content", Json::array()}};
  for (size_t i = 0; i < event.tokens.size(); i++) {
    Json entry = describe(event.tokens[i], event.logprobs[i], tokenizer);
    entry["top_logprobs"] = Json::array();
    for (const TokenLogprob& candidate : best(event, i, top)) {
      entry["top_logprobs"].push_back(describe(candidate.token, candidate.logprob, tokenizer));
    }
    target["content"].push_back(std::move(entry));
  }
}

void add_text_logprobs(const GenerationEvent& event, int32_t top, const text::Tokenizer& tokenizer,
                       size_t& offset, Json& target) {
  if (target.is_null()) {
    target = Json{{"tokens", Json::array()},
                  {"token_logprobs", Json::array()},
                  {"top_logprobs", top > 0 ? Json::array() : Json()},
                  {"text_offset", Json::array()}};
  }
  for (size_t i = 0; i < event.tokens.size(); i++) {
    const std::string_view piece = tokenizer.piece(event.tokens[i]);
    target["tokens"].push_back(key_of(piece));
    target["token_logprobs"].push_back(finite(event.logprobs[i]));
    target["text_offset"].push_back(offset);
    offset += characters(piece);
    if (top <= 0) continue;
    Json candidates = Json::object();
    for (const TokenLogprob& candidate : best(event, i, top)) {
      candidates[key_of(tokenizer.piece(candidate.token))] = finite(candidate.logprob);
    }
    target["top_logprobs"].push_back(std::move(candidates));
  }
}

}  // namespace halogen::api
