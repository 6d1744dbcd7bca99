#include "core/api/tokens.h"

#include "core/api/messages.h"

namespace halogen::api {
namespace {

// {"tokens", "count", "max_model_len"}, written without JSON objects: a text may have millions.
Reply tokens_reply(const std::vector<int32_t>& ids, uint32_t context) {
  std::string text = "{\"tokens\":[";
  for (const int32_t id : ids) {
    text += std::to_string(id);
    text += ',';
  }
  if (!ids.empty()) text.pop_back();
  text += "],\"count\":" + std::to_string(ids.size()) +
          ",\"max_model_len\":" + std::to_string(context) + '}';
  return [text = std::move(text)](const std::shared_ptr<http::Exchange>& exchange) {
    exchange->respond(200, "application/json", text);
  };
}

}  // namespace

Reply tokenize(const Json& body, const ModelAccess& model) {
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
  if (fields.error()) return refusal(*fields.error());
  return tokens_reply(ids, model.engine->limits().max_context);
}

Reply detokenize(const Json& body, const ModelAccess& model) {
  Fields fields(body);
  std::vector<int32_t> ids;
  if (const Json* tokens = fields.find("tokens")) {
    fields.token_ids("tokens", *tokens, model.engine->limits().vocabulary_size, ids);
  } else {
    fields.refuse("tokens", "'tokens' is missing: a list of token ids");
  }
  if (fields.error()) return refusal(*fields.error());
  const std::string text = model.tokenizer->decode(ids, false);
  return json_reply({{"content", text}, {"prompt", text}});
}

}  // namespace halogen::api
