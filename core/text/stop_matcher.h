// Watches a growing text for the first of several stop strings. Each string has its own
// Knuth-Morris-Pratt automaton: one or two steps a byte, and its state is how many bytes at the
// text's end may yet become that string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halogen::text {

class StopMatcher {
 public:
  struct Match {
    size_t string;  // its number among the stop strings
    size_t end;     // bytes of the advance()d text up to and with its last byte
  };

  // Empty strings are ignored, and keep their number.
  explicit StopMatcher(std::vector<std::string> strings);

  // Reads on. Returns the string that is complete first; of several that end at the same byte, the
  // longest. Reading stops there.
  std::optional<Match> advance(std::string_view text);

  // How many bytes at the end of what was read begin a stop string.
  size_t held() const;

  const std::string& string(size_t number) const { return automata_[number].string; }
  bool empty() const { return automata_.empty(); }

 private:
  struct Automaton {
    std::string string;
    std::vector<uint32_t> fallback;  // for each length: the longest shorter border of that prefix
    uint32_t matched = 0;
  };

  static bool step(Automaton& automaton, char byte);

  std::vector<Automaton> automata_;
};

}  // namespace halogen::text
