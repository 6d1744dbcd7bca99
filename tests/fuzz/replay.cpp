// A main for builds without libFuzzer: runs the target once on every file it is given, and on every
// file of the folders it is given. With --mutations=N it then runs N inputs made from those, always
// the same ones: no substitute for a fuzzer, but every build does it.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

namespace fs = std::filesystem;

constexpr size_t kLongest = 64 << 10;
std::string current;  // the input that is running; read when the process ends in the middle of it

std::vector<fs::path> files_below(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void run(const std::string& input) {
  current = input;
  // A copy of exactly this size, so that a sanitizer sees a read past its end.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// Keeps the input that a property or a sanitizer ended the process for.
void keep_input(int signal) {
  const std::string path = (fs::temp_directory_path() / "fuzz-finding").string();
  std::ofstream(path, std::ios::binary) << current;
  std::cerr << "the input is in " << path << '\n';
  std::_Exit(128 + signal);
}

std::string mutated(const std::vector<std::string>& inputs, std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % std::max<size_t>(limit, 1); };
  std::string input = inputs[below(inputs.size())];
  for (size_t edits = 1 + below(4); edits > 0; edits--) {
    const size_t at = below(input.size() + 1);
    const size_t size = std::min(below(24) + 1, input.size() - at);
    const std::string& other = inputs[below(inputs.size())];
    switch (below(6)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(random());
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 2:
        input.erase(at, size);
        break;
      case 3:
        input.insert(at, input.substr(at, size));
        break;
      case 4:
        input.insert(at, other.substr(below(other.size()), below(64) + 1));
        break;
      default:
        input.resize(at);
        input += other.substr(below(other.size()));
        break;
    }
  }
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view option = "--mutations=";
  size_t mutations = 0;
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; i++) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(option)) {
      mutations = std::stoul(std::string(argument.substr(option.size())));
      continue;
    }
    for (const fs::path& path : files_below(argument)) {
      std::ifstream file(path, std::ios::binary);
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      if (!file) {
        std::cerr << path << ": cannot be read\n";
        return 1;
      }
    }
  }
  std::signal(SIGABRT, keep_input);
  for (const std::string& input : inputs) run(input);
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same inputs in every run
  for (size_t i = 0; i < mutations && !inputs.empty(); i++) run(mutated(inputs, random));
  std::cout << inputs.size() << " inputs, " << mutations << " made from them\n";
  return inputs.empty() ? 1 : 0;
}
