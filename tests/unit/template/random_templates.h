// Templates written at random, for breadth: every operator, filter, test and statement, in
// combinations that nobody would think of. Most of what comes out means something: an expression is
// asked for by the kind of its value.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace halogen::test {

class RandomTemplates {
 public:
  // The same seed gives the same templates everywhere.
  explicit RandomTemplates(std::uint32_t seed) : random_(seed) {}

  // Some lines of statements and expressions.
  std::string next();

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  template <std::size_t n>
  const char* any_of(const char* const (&choices)[n]) {
    return choices[below(n)];
  }

  std::string number(int depth);
  std::string text(int depth);
  std::string list(int depth);
  std::string make_text(int depth);
  std::string make_list(int depth);
  std::string dict(int depth);
  std::string condition(int depth);
  std::string anything(int depth);
  std::string variable();

  std::string tag(const std::string& inside);
  std::string body(int depth);
  std::string statement(int depth);

  std::mt19937 random_;
};

}  // namespace halogen::test
