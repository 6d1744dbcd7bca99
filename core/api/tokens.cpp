#include "core/api/tokens.h"

#include "core/api/messages.h"

namespace halogen::api {
namespace {

void answer(http::Exchange& exchange, const Json& reply) {
  exchange.respond(200, "application/json", to_text(reply));
}

}  // namespace

void tokenize(http::Exchange& exchange, const ModelAccess& model, const Json& body) {
  Fields fields(body);
  std::vector<int32_t> ids;
  bool add_special = true;
  if (fields.find("messages")) {
    ids = chat_prompt(fields, model);
  } else {
    std::string content;
    const char* name = fields.find("content") ? "content" : "prompt";
    if (!fields.find(name))
      fields.refuse("prompt", "one of 'prompt', 'content' and 'messages' is needed");
    fields.text(name, content);
    // llama.cpp's and vLLM's names for the same switch; the first's default is off.
    if (fields.find("content")) add_special = false;
    fields.boolean("add_special", add_special);
    fields.boolean("add_special_tokens", add_special);
    bool parse_special = true;
    fields.boolean("parse_special", parse_special);
    const Status encoded = model.tokenizer->encode(
        content, {.add_special = add_special, .parse_special = parse_special}, ids);
    if (!encoded) fields.refuse(name, encoded.error().message);
  }
  if (fields.error()) return respond(exchange, *fields.error());
  answer(exchange, Json{{"tokens", ids},
                        {"count", ids.size()},
                        {"max_model_len", model.engine->limits().max_context}});
}

void detokenize(http::Exchange& exchange, const ModelAccess& model, const Json& body) {
  Fields fields(body);
  std::vector<int32_t> ids;
  const Json* tokens = fields.find("tokens");
  if (!tokens || !tokens->is_array())
    fields.refuse("tokens", "'tokens' must be a list of token ids");
  for (size_t i = 0; !fields.error() && i < tokens->size(); i++) {
    const Json& entry = (*tokens)[i];
    if (!entry.is_number_integer() || entry < 0 ||
        entry >= model.engine->limits().vocabulary_size) {
      const std::string param = "tokens[" + std::to_string(i) + "]";
      fields.refuse(param, "'" + param + "' is " + entry.dump() +
                               "; token ids are integers below " +
                               std::to_string(model.engine->limits().vocabulary_size));
      break;
    }
    ids.push_back(entry.get<int32_t>());
  }
  if (fields.error()) return respond(exchange, *fields.error());
  const std::string text = model.tokenizer->decode(ids, false);
  answer(exchange, Json{{"content", text}, {"prompt", text}});
}

}  // namespace halogen::api
