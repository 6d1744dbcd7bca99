#include "core/text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace halogen::text {

StopMatcher::StopMatcher(std::vector<std::string> strings) {
  automata_.reserve(strings.size());
  for (std::string& string : strings) {
    Automaton& automaton = automata_.emplace_back();
    automaton.string = std::move(string);
    automaton.fallback.assign(automaton.string.size() + 1, 0);
    uint32_t border = 0;
    for (size_t length = 2; length <= automaton.string.size(); ++length) {
      const char byte = automaton.string[length - 1];
      while (border > 0 && automaton.string[border] != byte) border = automaton.fallback[border];
      if (automaton.string[border] == byte) border++;
      automaton.fallback[length] = border;
    }
  }
}

std::optional<StopMatcher::Match> StopMatcher::advance(std::string_view text) {
  if (automata_.empty()) return {};
  for (size_t i = 0; i < text.size(); ++i) {
    const Automaton* longest = nullptr;
    for (Automaton& automaton : automata_) {
      if (!step(automaton, text[i])) continue;
      if (longest == nullptr || automaton.string.size() > longest->string.size()) {
        longest = &automaton;
      }
    }
    if (longest != nullptr) return Match{static_cast<size_t>(longest - automata_.data()), i + 1};
  }
  return {};
}

size_t StopMatcher::held() const {
  size_t held = 0;
  for (const Automaton& automaton : automata_) held = std::max<size_t>(held, automaton.matched);
  return held;
}

// One byte further; true when the string is complete.
bool StopMatcher::step(Automaton& automaton, char byte) {
  const std::string& string = automaton.string;
  if (string.empty()) return false;
  uint32_t& matched = automaton.matched;
  if (matched == string.size()) matched = automaton.fallback[matched];
  while (matched > 0 && string[matched] != byte) matched = automaton.fallback[matched];
  if (string[matched] == byte) matched++;
  return matched == string.size();
}

}  // namespace halogen::text
