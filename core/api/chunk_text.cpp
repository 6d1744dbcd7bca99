#include "core/api/chunk_text.h"

#include "core/http/sse.h"
#include "core/text/utf8.h"

namespace halogen::api {

ChunkText::ChunkText(const Json& chunk) {
  std::string mark;
  append_escaped(mark, kTextMark);
  const std::string event = http::sse_event(to_text(chunk));
  // The last one, in case that a model's name has it too.
  const size_t at = event.rfind(mark);
  before_ = event.substr(0, at);
  after_ = event.substr(at + mark.size());
}

void ChunkText::append_event(std::string& out, std::string_view text) const {
  out.append(before_);
  if (text::valid_prefix(text) == text.size()) {
    append_escaped(out, text);
  } else {
    append_escaped(out, text::sanitized(text));
  }
  out.append(after_);
}

void append_escaped(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  size_t plain = 0;  // where what needs no escape began
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    switch (byte) {
      case '"':
        out.append("\\\"");
        break;
      case '\\':
        out.append("\\\\");
        break;
      case '\n':
        out.append("\\n");
        break;
      case '\r':
        out.append("\\r");
        break;
      case '\t':
        out.append("\\t");
        break;
      default:
        out.append("\\u00").append({kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  out.append(text.substr(plain));
}

}  // namespace halogen::api
