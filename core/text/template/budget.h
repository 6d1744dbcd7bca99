// What a render may cost. A chat template comes with a model file and is trusted no more than one:
// it may loop, recurse or multiply strings, so every step, byte and level of nesting is counted and
// the render stops with an error when its share is used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "halogen/base.h"

namespace halogen::jinja {

struct Limits {
  std::uint64_t steps = 8'000'000;  // evaluated nodes, visited elements, and every 64 bytes
  std::uint64_t memory_bytes = 512ULL << 20;  // all values and texts made during a render together
  std::size_t output_bytes = 64ULL << 20;     // of the rendered text, and of each captured block
  int depth = 1000;                           // nested evaluations, macro calls included
};

// How the inside of this room reports an error: evaluation is deeply recursive and every level can
// fail, so a Failure is thrown and ChatTemplate, the room's only door, turns it into an Error.
// A line of 0 means "where the interpreter is now".
struct Failure {
  std::string message;
  int line = 0;
  halogen_status status = HALOGEN_E_INVALID;
};

[[noreturn]] inline void raise(std::string message, int line = 0) {
  throw Failure{std::move(message), line};
}

class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}

  const Limits& limits() const { return limits_; }

  void step(std::uint64_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.steps) {
      raise("the template runs too long, more than " + std::to_string(limits_.steps) +
            " steps; does it loop without end?");
    }
  }

  void allocate(std::uint64_t bytes) {
    if (bytes > limits_.memory_bytes - memory_) refuse_memory();
    memory_ += bytes;
    step(bytes / 64);
  }

  // Refuses `count` pieces of `size` bytes at once, before anything is built from them.
  void require(std::uint64_t count, std::uint64_t size) const {
    if (size != 0 && count > (limits_.memory_bytes - memory_) / size) {
      refuse_memory();
    }
  }

  void enter() {
    if (depth_ >= limits_.depth) {
      raise("the template nests or recurses too deeply, more than " +
            std::to_string(limits_.depth) + " levels");
    }
    ++depth_;
  }
  void leave() { --depth_; }

 private:
  [[noreturn]] void refuse_memory() const {
    raise("the template uses too much memory, more than " + std::to_string(limits_.memory_bytes) +
          " bytes");
  }

  Limits limits_;
  std::uint64_t steps_ = 0;
  std::uint64_t memory_ = 0;
  int depth_ = 0;
};

// Counts one level of nesting for as long as it lives.
class DepthGuard {
 public:
  explicit DepthGuard(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~DepthGuard() { budget_.leave(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Budget& budget_;
};

// Builds a text, paying for every byte before it is written, so that no operation can outgrow the
// budget.
class TextBuilder {
 public:
  explicit TextBuilder(Budget& budget) : budget_(budget) {}

  TextBuilder& append(std::string_view text) {
    budget_.allocate(text.size());
    text_.append(text);
    return *this;
  }
  TextBuilder& append(std::size_t count, char c) {
    budget_.allocate(count);
    text_.append(count, c);
    return *this;
  }
  std::size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }

 private:
  Budget& budget_;
  std::string text_;
};

}  // namespace halogen::jinja
