// Looks at the line ends of a request's head and of its trailers, where llhttp is more forgiving
// than is safe behind a proxy that reads the same bytes in another way: it joins folded lines,
// takes a line feed alone for the end, and skips a carriage return before the first line. Source:
// RFC 9112 sections 2.2 and 5.2.
#pragma once

#include <string_view>

namespace halogen::http {

class HeadLines {
 public:
  // The next piece of a request; what follows the head, or the trailers, in it is not looked at.
  // Returns what is wrong, or an empty text.
  std::string_view check(std::string_view piece);

  void expect_head() { *this = HeadLines(); }

  // What comes next follows the line of the last chunk: trailers, if any, and a blank line.
  void expect_trailers() {
    expect_head();
    begun_ = true;
  }

 private:
  char last_ = '\n';    // the byte before the piece
  bool blank_ = true;   // nothing but a carriage return has come on this line
  bool begun_ = false;  // there was a line that is not blank: blank ones before it do not count
  bool ended_ = false;
};

}  // namespace halogen::http
