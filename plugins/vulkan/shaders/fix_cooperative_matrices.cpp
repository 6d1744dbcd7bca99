// Makes valid SPIR-V of what glslang 12 makes of cooperative.glsl, and prints its words for a
// table.
//
// OpTypeCooperativeMatrixKHR takes ids of a component type and of constants; glslang 12 writes the
// literals of spirv_type instead, among them the markers 0x7f16 and 0x7f32 for the component type.
// The scalar types that these stand for depend on nothing, so they move to the front of the types,
// with the constants behind them. Whatever else there is keeps its place.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Instruction = std::vector<uint32_t>;  // words; the first is length << 16 | opcode

constexpr uint32_t kTypeVoid = 19, kTypeInt = 21, kTypeFloat = 22, kTypeForwardPointer = 39;
constexpr uint32_t kConstant = 43, kTypeCooperativeMatrix = 4456;
constexpr size_t kHeaderWords = 5, kBoundWord = 3;

uint32_t opcode(const Instruction& instruction) {
  return instruction[0] & 0xffff;
}

bool declares_type(const Instruction& instruction) {
  return (opcode(instruction) >= kTypeVoid && opcode(instruction) <= kTypeForwardPointer) ||
         opcode(instruction) == kTypeCooperativeMatrix;
}

class Module {
 public:
  explicit Module(const std::vector<uint32_t>& words)
      : header_(words.begin(), words.begin() + kHeaderWords) {
    for (size_t at = kHeaderWords; at < words.size();) {
      const uint32_t length = words[at] >> 16;
      if (length == 0 || at + length > words.size()) throw std::runtime_error("is no SPIR-V");
      const Instruction instruction(&words[at], &words[at] + length);
      at += length;
      if (opcode(instruction) == kTypeFloat || opcode(instruction) == kTypeInt)
        scalars_.push_back(instruction);
      else
        rest_.push_back(instruction);
    }
  }

  void fix() {
    for (Instruction& instruction : rest_) {
      if (opcode(instruction) != kTypeCooperativeMatrix) continue;
      instruction[2] = float_type(instruction[2]);
      for (size_t operand = 3; operand < instruction.size(); operand++)
        instruction[operand] = constant(instruction[operand]);
    }
  }

  void print(std::FILE* file) const {
    size_t first_type = 0;
    while (first_type < rest_.size() && !declares_type(rest_[first_type])) first_type++;
    print(file, header_);
    for (size_t i = 0; i < first_type; i++) print(file, rest_[i]);
    for (const Instruction& instruction : scalars_) print(file, instruction);
    for (const Instruction& instruction : constants_) print(file, instruction);
    for (size_t i = first_type; i < rest_.size(); i++) print(file, rest_[i]);
  }

 private:
  uint32_t new_id() { return header_[kBoundWord]++; }

  uint32_t float_type(uint32_t marker) {
    if (marker != 0x7f16 && marker != 0x7f32)
      throw std::runtime_error("has a cooperative matrix of unknown component type");
    return scalar({kTypeFloat, 0, marker == 0x7f16 ? 16U : 32U});
  }

  // The id of the type that has these words, but for its length and its id.
  uint32_t scalar(Instruction wanted) {
    wanted[0] |= static_cast<uint32_t>(wanted.size()) << 16;
    for (const Instruction& known : scalars_) {
      wanted[1] = known[1];
      if (known == wanted) return known[1];
    }
    wanted[1] = new_id();
    scalars_.push_back(wanted);
    return wanted[1];
  }

  uint32_t constant(uint32_t value) {
    const auto [known, is_new] = ids_.try_emplace(value, 0);
    if (is_new) {
      const uint32_t unsigned_type = scalar({kTypeInt, 0, 32, 0});
      known->second = new_id();
      constants_.push_back({4U << 16 | kConstant, unsigned_type, known->second, value});
    }
    return known->second;
  }

  static void print(std::FILE* file, const Instruction& words) {
    for (const uint32_t word : words) std::fprintf(file, "0x%08x,", word);
    std::fputc('\n', file);
  }

  std::vector<uint32_t> header_;
  std::vector<Instruction> scalars_, constants_, rest_;
  std::map<uint32_t, uint32_t> ids_;  // of constants, by value
};

std::vector<uint32_t> read_words(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < kHeaderWords * 4 || bytes.size() % 4 != 0)
    throw std::runtime_error("is no SPIR-V");
  std::vector<uint32_t> words(bytes.size() / 4);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(words.data()));
  return words;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: fix_cooperative_matrices IN.spv OUT.inc\n", stderr);
    return 2;
  }
  try {
    Module module(read_words(arguments[1]));
    module.fix();
    std::FILE* out = std::fopen(arguments[2], "w");
    if (!out) throw std::runtime_error("cannot be written to " + std::string(arguments[2]));
    module.print(out);
    if (std::fclose(out) != 0) throw std::runtime_error("could not be written");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fix_cooperative_matrices: %s %s\n", arguments[1], error.what());
    return 1;
  }
}
