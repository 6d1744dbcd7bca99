// How fast text becomes tokens, for texts that are kind to a tokenizer and texts that are not. For
// each vocabulary and kind of text a line: MB/s of 1 MiB, how much longer 4 MiB take (4 is linear),
// and tokens. With a peer its MB/s of 1 MiB, measured in turns with ours, how many times faster
// ours is, and whether its ids are the same.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <time.h>
#include <unistd.h>

#include "bench/text_peer.h"
#include "core/text/tokenizer.h"
#include "core/text/utf8.h"
#include "tests/unit/text/gguf_vocabulary.h"

namespace {

using halogen::text::append_character;
using halogen::text::TokenId;
using halogen::text::Tokenizer;

constexpr size_t kMegabyte = size_t{1} << 20U;
constexpr int kRounds = 5;
constexpr double kTooSlow = 3000;  // milliseconds: one round is enough
constexpr const char* kUsage =
    "usage: text_bench [--peer COMMAND] [--text FILE] [--only KIND] VOCABULARY.gguf...\n"
    "  --peer COMMAND  a program that is given the vocabulary, reads paths of texts line by line "
    "and\n"
    "                  answers each with 'MILLISECONDS TOKENS HASH' (of processor time; FNV-1a "
    "over\n"
    "                  the 32-bit ids)\n"
    "  --text FILE     one more kind of text: this file, repeated\n"
    "  --only KIND     only this kind of text\n";

struct Arguments {
  std::string peer;
  std::string text;
  std::string only;
  std::vector<std::string> vocabularies;
};

struct Kind {
  std::string name;
  std::string text;  // 4 MiB
};

std::string repeated(std::string_view unit) {
  std::string text;
  text.reserve(4 * kMegabyte);
  while (text.size() + unit.size() <= 4 * kMegabyte) text += unit;
  return text;
}

// 4 MiB of what append(text, random) writes.
template <typename Append>
std::string generated(const Append& append) {
  std::mt19937 random(1);
  std::string text;
  text.reserve(4 * kMegabyte + 256);
  while (text.size() < 4 * kMegabyte) append(text, random);
  return text;
}

// Few words are frequent and many rare, as in any language.
std::vector<std::string> invented_words(size_t count) {
  constexpr const char* kSyllables[] = {"the", "in", "er", "an", "re", "on", "at", "en", "nd",
                                        "ti",  "es", "or", "te", "of", "ed", "is", "it", "al",
                                        "ar",  "st", "to", "nt", "ng", "se", "ha", "as", "ou",
                                        "io",  "le", "ve", "co", "me", "de", "hi", "ri", "ro"};
  std::mt19937 random(2);
  std::vector<std::string> words(count);
  for (std::string& word : words) {
    for (uint32_t i = 0; i <= random() % 4; ++i) word += kSyllables[random() % 36];
  }
  return words;
}

std::string prose() {
  const std::vector<std::string> words = invented_words(20000);
  return generated([&](std::string& text, std::mt19937& random) {
    const double place = static_cast<double>(random()) / 4294967296.0;
    text += words[static_cast<size_t>(std::pow(20000.0, place)) - 1];
    text += random() % 9 == 0 ? (random() % 3 == 0 ? ".\n" : ", ") : " ";
  });
}

std::string code() {
  const std::vector<std::string> words = invented_words(3000);
  return generated([&](std::string& text, std::mt19937& random) {
    const auto word = [&] { return words[random() % 3000]; };
    text += std::string(2 * (random() % 5), ' ') + "if (" + word() + "_" + word() + "[" +
            std::to_string(random() % 1000) + "] != nullptr) " + word() + " += \"" + word() +
            "\";\n";
  });
}

std::string ideographs() {
  return generated([](std::string& text, std::mt19937& random) {
    append_character(random() % 12 == 0 ? 0x3002 : 0x4E00 + static_cast<uint32_t>(random() % 3000),
                     text);
  });
}

std::string letters() {
  return generated([](std::string& text, std::mt19937& random) {
    text.push_back(static_cast<char>('a' + random() % 26));
  });
}

std::string scripts() {
  constexpr uint32_t kStarts[] = {0x41, 0xE0, 0x391, 0x430, 0x5D0, 0x627, 0x915, 0xE01, 0x3042};
  return generated([&](std::string& text, std::mt19937& random) {
    const uint32_t start = kStarts[random() % 9];
    for (uint32_t i = 0; i <= random() % 8; ++i)
      append_character(start + static_cast<uint32_t>(random() % 20), text);
    text.push_back(' ');
  });
}

std::string bytes() {
  return generated(
      [](std::string& text, std::mt19937& random) { text.push_back(static_cast<char>(random())); });
}

std::vector<Kind> kinds(const Arguments& arguments) {
  std::vector<Kind> all = {{"prose", prose()},
                           {"code", code()},
                           {"ideographs", ideographs()},
                           {"scripts", scripts()},
                           {"letter a", repeated("a")},
                           {"letters", letters()},
                           {"spaces", repeated(" ")},
                           {"line feeds", repeated("\n")},
                           {"digits", repeated("7")},
                           {"emoji", repeated("😀🚀👍🏽")},
                           {"marks", repeated("e\u0301\u0323")},
                           {"open tags", repeated("<|")},
                           {"bytes", bytes()}};
  if (!arguments.text.empty()) {
    std::ifstream file(arguments.text, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!text.empty()) all.insert(all.begin(), {"file", repeated(text)});
  }
  std::erase_if(all, [&](const Kind& kind) {
    return !arguments.only.empty() && kind.name != arguments.only;
  });
  return all;
}

// Of this thread's processor time, which a busy machine disturbs less than the clock on the wall.
double processor_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

double milliseconds(const Tokenizer& tokenizer, std::string_view text, std::vector<TokenId>& ids) {
  ids.clear();
  const double start = processor_milliseconds();
  if (!tokenizer.encode(text, {.parse_special = true}, ids)) std::exit(1);
  return processor_milliseconds() - start;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

uint32_t hash_of(const std::vector<TokenId>& ids) {
  uint32_t hash = 2166136261U;
  for (const TokenId id : ids) hash = (hash ^ static_cast<uint32_t>(id)) * 16777619U;
  return hash;
}

// A text in a file of its own, for the peer.
class TextFile {
 public:
  explicit TextFile(std::string_view text) {
    const int file = mkstemp(path_.data());
    if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::perror("a temporary file");
      std::exit(1);
    }
    close(file);
  }
  ~TextFile() { unlink(path_.c_str()); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "text_bench.XXXXXX").string();
};

void measure(const Tokenizer& tokenizer, TextPeer* peer, const Kind& kind) {
  std::string_view small = std::string_view(kind.text).substr(0, kMegabyte);
  small = small.substr(0, halogen::text::complete_prefix(small));
  const TextFile file(peer != nullptr ? small : std::string_view());
  std::vector<TokenId> ids;
  std::vector<double> ours_small, ours_large, theirs;
  std::optional<TextPeer::Answer> answer;
  for (int round = 0; round < kRounds; ++round) {
    ours_large.push_back(milliseconds(tokenizer, kind.text, ids));
    ours_small.push_back(milliseconds(tokenizer, small, ids));
    if (peer == nullptr || (round > 0 && answer && answer->milliseconds > kTooSlow)) continue;
    answer = peer->tokenize(file.path());
    if (answer) theirs.push_back(answer->milliseconds);
  }
  const double megabytes = static_cast<double>(small.size()) / 1e6;
  const double ours = median(ours_small);
  std::printf("  %-11s %8.1f MB/s  x%5.2f for 4 MiB %9zu tokens", kind.name.c_str(),
              megabytes / ours * 1e3, median(ours_large) / ours, ids.size());
  if (answer) {
    const double peers = median(theirs);
    const bool same = answer->tokens == ids.size() && answer->hash == hash_of(ids);
    std::printf("   peer %8.2f MB/s  ours x%6.2f  %s", megabytes / peers * 1e3, peers / ours,
                same ? "same ids" : "other ids");
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    std::string* const value = argument == "--peer"   ? &arguments.peer
                               : argument == "--text" ? &arguments.text
                               : argument == "--only" ? &arguments.only
                                                      : nullptr;
    if (value == nullptr) {
      arguments.vocabularies.push_back(argument);
    } else if (++i < argc) {
      *value = argv[i];
    }
  }
  if (arguments.vocabularies.empty()) return {};
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const std::vector<Kind> texts = kinds(*arguments);
  for (const std::string& path : arguments->vocabularies) {
    auto vocabulary = halogen::text::testing::read_gguf_vocabulary(path);
    if (!vocabulary) {
      std::fprintf(stderr, "%s: not a GGUF file\n", path.c_str());
      return 1;
    }
    const double start = processor_milliseconds();
    auto tokenizer = Tokenizer::create(std::move(*vocabulary));
    const double made = processor_milliseconds() - start;
    if (!tokenizer) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), tokenizer.error().message.c_str());
      return 1;
    }
    std::printf("%s: made in %.0f ms\n", path.c_str(), made);
    std::unique_ptr<TextPeer> peer;
    if (!arguments->peer.empty()) peer = std::make_unique<TextPeer>(arguments->peer, path);
    for (const Kind& kind : texts) measure(**tokenizer, peer.get(), kind);
  }
  return 0;
}
