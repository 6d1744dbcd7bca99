// The chunks of one choice's stream as text. They differ in nothing but the new text inside, so
// that the JSON around it is written once and each token costs a copy.
#pragma once

#include <string>
#include <string_view>

#include "core/api/json.h"

namespace halogen::api {

// What a chunk has where its new text belongs, until that is known.
inline constexpr std::string_view kTextMark = "\x01halogen\x01";

class ChunkText {
 public:
  // `chunk` is a chunk whose text is kTextMark.
  explicit ChunkText(const Json& chunk);

  // Appends the chunk as a server-sent event. Bytes of `text` that are not UTF-8 become U+FFFD.
  void append_event(std::string& out, std::string_view text) const;

 private:
  std::string before_, after_;
};

// Appends `text` as the inside of a JSON string. `text` is UTF-8.
void append_escaped(std::string& out, std::string_view text);

}  // namespace halogen::api
