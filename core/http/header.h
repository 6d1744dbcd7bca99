// A header field of a response.
#pragma once

#include <string>

namespace halogen::http {

// Control characters in either part are sent as blanks, so that text from outside cannot start a
// header of its own.
struct Header {
  std::string name;
  std::string value;
};

}  // namespace halogen::http
