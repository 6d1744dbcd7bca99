// HTML escaping, for the `escape` filter and for text that is joined with text marked `safe`.
#pragma once

#include <string_view>

#include "core/text/template/budget.h"

namespace halogen::jinja {

inline void append_escaped(TextBuilder& out, std::string_view text) {
  std::size_t plain = 0;
  for (std::size_t at = text.find_first_of("&<>'\""); at != std::string_view::npos;
       at = text.find_first_of("&<>'\"", plain)) {
    out.append(text.substr(plain, at - plain));
    switch (text[at]) {
      case '&':
        out.append("&amp;");
        break;
      case '<':
        out.append("&lt;");
        break;
      case '>':
        out.append("&gt;");
        break;
      case '"':
        out.append("&#34;");
        break;
      default:
        out.append("&#39;");
        break;
    }
    plain = at + 1;
  }
  out.append(text.substr(plain));
}

}  // namespace halogen::jinja
