// Bytes: a text. Every small vocabulary encodes and decodes it; then the ids that came out, and the
// bytes taken as ids themselves, run through a stream with stop strings cut from the text.
#include <optional>

#include "core/text/text_stream.h"
#include "core/text/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small_vocabularies.h"

namespace {

using namespace halogen;
using text::TokenId;
using text::Tokenizer;

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view words,
                            text::EncodeOptions options) {
  std::vector<TokenId> ids;
  const Status encoded = tokenizer.encode(words, options, ids);
  fuzz::require(encoded.ok(), "any bytes can be encoded",
                encoded.ok() ? "" : encoded.error().message);
  for (const TokenId id : ids) {
    fuzz::require(id >= 0 && static_cast<size_t>(id) < tokenizer.size(), "an id has a token");
  }
  return ids;
}

void check_round_trip(const fuzz::SmallTokenizer& small, std::string_view words) {
  const Tokenizer& tokenizer = *small.tokenizer;
  for (const bool parse_special : {false, true}) {
    const auto ids =
        encode(tokenizer, words, {.add_special = false, .parse_special = parse_special});
    const std::string decoded = tokenizer.decode(ids, /*skip_special=*/false);
    if (small.keeps_text) fuzz::require(decoded == words, "decoding undoes encoding", small.name);
    if (parse_special) continue;
    const auto again = encode(tokenizer, decoded, {});
    fuzz::require(tokenizer.decode(again, false) == decoded, "what was decoded stays as it is",
                  small.name);
  }
}

// The first place where a stop string is complete, found the slow way.
struct Stop {
  size_t string, begin;
};
std::optional<Stop> find_stop(std::string_view whole, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= whole.size(); end++) {
    std::optional<Stop> found;
    for (size_t i = 0; i < stops.size(); i++) {
      if (stops[i].empty() || !whole.substr(0, end).ends_with(stops[i])) continue;
      if (!found || stops[i].size() > stops[found->string].size())
        found = Stop{i, end - stops[i].size()};
    }
    if (found) return found;
  }
  return std::nullopt;
}

std::vector<std::string> stops_from(std::string_view words) {
  fuzz::Choices choices(words);
  const std::string valid = text::sanitized(words);
  std::vector<std::string> stops;
  for (size_t count = choices.below(4); count > 0 && !valid.empty(); count--) {
    const size_t begin = choices.below(valid.size());
    stops.push_back(text::sanitized(std::string_view(valid).substr(begin, 1 + choices.below(6))));
  }
  return stops;
}

void check_stream(const Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                  const std::vector<std::string>& stops) {
  std::string whole;
  for (const TokenId id : ids) {
    if (!tokenizer.is_special(id)) whole += tokenizer.piece(id);
  }
  std::string expected = text::sanitized(whole);
  const std::optional<Stop> stop = find_stop(expected, stops);
  if (stop) expected.resize(stop->begin);

  text::TextStream stream(tokenizer, {.stop = stops});
  std::string streamed;
  const auto take = [&](std::string_view piece) {
    fuzz::require(text::valid_prefix(piece) == piece.size(), "each piece is valid UTF-8", piece);
    streamed += piece;
  };
  for (const TokenId id : ids) take(stream.push(id));
  take(stream.finish());
  fuzz::require(streamed == expected, "the pieces are the text up to the first stop string",
                streamed + "\n--- expected:\n" + expected);
  fuzz::require(stream.stop().has_value() == stop.has_value(), "a stop string is noticed");
  fuzz::require(!stop || stops[*stream.stop()] == stops[stop->string], "the right string stops it");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view words = fuzz::text_of(data, size);
  const std::vector<std::string> stops = stops_from(words);
  for (const fuzz::SmallTokenizer& small : fuzz::small_tokenizers()) {
    check_round_trip(small, words);
    check_stream(*small.tokenizer,
                 encode(*small.tokenizer, words, {.add_special = true, .parse_special = true}),
                 stops);
    std::vector<TokenId> ids;
    for (const char byte : words) ids.push_back(static_cast<uint8_t>(byte));
    check_stream(*small.tokenizer, ids, stops);
  }
  return 0;
}
