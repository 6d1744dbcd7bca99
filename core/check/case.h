// One thing that a plugin has to get right, and how that came out.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace halogen::check {

class Subject;

enum class Verdict {
  pass,
  fail,
  skip,        // could not be judged: the sentence says why
  unsupported  // the plugin says that it does not do this
};

struct Outcome {
  Verdict verdict = Verdict::pass;
  std::string sentence;  // why it did not pass: what was seen and what was expected
  std::string measure;   // what was measured, in words: "relative RMS 3.1e-08"
  double share = 0;      // of what is allowed that the worst measure used; 0: nothing was measured

  static Outcome failed(std::string sentence) {
    return {Verdict::fail, std::move(sentence), {}, 0};
  }
  static Outcome skipped(std::string why) { return {Verdict::skip, std::move(why), {}, 0}; }
  static Outcome unsupported(std::string why) {
    return {Verdict::unsupported, std::move(why), {}, 0};
  }
};

struct Case {
  std::string kind;  // "abi", "backend", "loader", "sampler", "scheduler"
  std::string name;  // "linear/Q4_K/257x1280x64": what stands before the last slash is its group
  std::function<Outcome(Subject&)> run;  // in the child process
  bool quick = true;                     // belongs to the short run
  std::chrono::seconds limit{30};

  std::string full_name() const { return kind + "/" + name; }
};

// Remembers the first thing that is wrong, for cases that look at many.
class Findings {
 public:
  // False where `holds` is false; `sentence` says what is wrong then.
  bool expect(bool holds, const std::string& sentence) {
    if (!holds && outcome_.verdict == Verdict::pass) outcome_ = Outcome::failed(sentence);
    return holds;
  }
  bool failed() const { return outcome_.verdict == Verdict::fail; }
  const Outcome& outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

}  // namespace halogen::check
