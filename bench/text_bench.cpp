// How fast text becomes tokens, for texts that are kind to a tokenizer and texts that are not. Each
// line: what, bytes, tokens, milliseconds of CPU, MB/s; the second size shows whether time grows
// linearly. Usage: text_bench VOCABULARY.gguf [TEXT_FILE]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/text/tokenizer.h"
#include "tests/unit/text/gguf_vocabulary.h"

namespace {

using halogen::text::TokenId;
using halogen::text::Tokenizer;

std::string repeated(std::string_view unit, size_t bytes) {
  std::string text;
  while (text.size() + unit.size() <= bytes) text += unit;
  return text;
}

double milliseconds(const Tokenizer& tokenizer, const std::string& text,
                    std::vector<TokenId>& ids) {
  double best = 1e300;
  for (int round = 0; round < 3; ++round) {
    ids.clear();
    const auto start = std::chrono::steady_clock::now();
    if (!tokenizer.encode(text, {.parse_special = true}, ids)) std::exit(1);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  auto vocabulary = argc > 1 ? halogen::text::testing::read_gguf_vocabulary(argv[1]) : std::nullopt;
  if (!vocabulary) {
    std::fprintf(stderr, "usage: text_bench VOCABULARY.gguf [TEXT_FILE]\n");
    return 2;
  }
  const std::clock_t start = std::clock();
  auto tokenizer = Tokenizer::create(std::move(*vocabulary));
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  std::printf("made in %.1f ms\n",
              1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);

  std::string prose =
      "The quick brown fox, it's said, jumps over 13 lazy dogs; nobody's counting. ";
  if (argc > 2) {
    std::ifstream file(argv[2], std::ios::binary);
    prose.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::pair<const char*, std::string> units[] = {
      {"prose", prose},       {"letter a", "a"},           {"letter A", "A"},
      {"spaces", " "},        {"line feeds", "\n"},        {"emoji", "😀🚀👍🏽"},
      {"accents", "e\u0301"}, {"marks", "\u0323\u0301"},   {"digits", "7"},
      {"open tags", "<|"},    {"broken bytes", "\xFF\x80"}};
  for (const auto& [name, unit] : units) {
    for (const size_t bytes : {size_t{1} << 20U, size_t{1} << 22U}) {
      const std::string text = repeated(unit, bytes);
      std::vector<TokenId> ids;
      const double taken = milliseconds(**tokenizer, text, ids);
      std::printf("%-12s %8zu bytes %8zu tokens %9.1f ms %7.1f MB/s\n", name, text.size(),
                  ids.size(), taken, static_cast<double>(text.size()) / 1e3 / taken);
    }
  }
  return 0;
}
