// What the endpoints see of the model being served.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "core/text/template/chat_template.h"
#include "core/text/token_search.h"
#include "core/text/tokenizer.h"

namespace halogen::api {

// Everything belongs to the server and outlives the requests that use it.
struct ModelAccess {
  Engine* engine = nullptr;
  const text::Tokenizer* tokenizer = nullptr;
  const text::TokenSearch* token_search = nullptr;
  const ChatTemplate* chat_template = nullptr;  // null: the model has none, and cannot chat
  std::string chat_template_error;              // why it has none, where the file's cannot be used
  std::vector<std::string> names;               // the first is what replies carry
  int64_t created = 0;                          // Unix seconds at which it was loaded
  SamplingOptions sampling;                     // where a request does not say otherwise
};

}  // namespace halogen::api
