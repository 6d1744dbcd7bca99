#include "core/api/chat.h"

#include "core/api/generation_job.h"
#include "core/api/logprobs.h"
#include "core/api/messages.h"

namespace halogen::api {
namespace {

class ChatFormat final : public ReplyFormat {
 public:
  ChatFormat(const text::Tokenizer& tokenizer, int32_t top_logprobs)
      : tokenizer_(tokenizer), top_logprobs_(top_logprobs) {}

  const char* id_prefix() const override { return "chatcmpl-"; }
  const char* object() const override { return "chat.completion"; }
  const char* stream_object() const override { return "chat.completion.chunk"; }
  bool announces() const override { return true; }

  Json whole(size_t /*index*/, const std::string& text, Json logprobs) override {
    return Json{{"message", {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}}},
                {"logprobs", std::move(logprobs)}};
  }
  Json part(size_t /*index*/, const std::string& text, Json logprobs, bool first) override {
    Json delta = Json::object();
    if (first) delta["role"] = "assistant";
    if (first || !text.empty()) delta["content"] = text;
    return Json{{"delta", std::move(delta)}, {"logprobs", std::move(logprobs)}};
  }
  void add_logprobs(size_t /*index*/, const GenerationEvent& event, Json& target) override {
    add_chat_logprobs(event, top_logprobs_, tokenizer_, target);
  }

 private:
  const text::Tokenizer& tokenizer_;
  int32_t top_logprobs_;
};

void read_logprobs(Fields& fields, GenerationRequest& request) {
  bool wanted = false;
  int64_t top = 0;
  fields.boolean("logprobs", wanted);
  fields.integer("top_logprobs", 0, kMostTopLogprobs, top);
  if (top > 0 && !wanted) {
    fields.refuse("top_logprobs", "'top_logprobs' is only allowed with 'logprobs': true");
  }
  if (wanted) request.top_logprobs = static_cast<int32_t>(top);
}

void refuse_what_comes_later(Fields& fields) {
  const char* later = "this version does not read tool calls out of an answer yet";
  // Without a choice of tools there is no call to read: they are left out of the prompt.
  const Json* choice = fields.find("tool_choice");
  if (!choice || *choice != "none") fields.unsupported("tools", Json::array(), later);
  fields.unsupported("functions", Json::array(), later);
  if (choice && *choice != "none" && *choice != "auto") {
    fields.refuse("tool_choice", std::string("'tool_choice' is not supported: ") + later,
                  "unsupported_parameter");
  }
  fields.unsupported("response_format", Json{{"type", "text"}},
                     "answers cannot be bound to a format yet");
  fields.unsupported("modalities", Json::array({"text"}), "this model answers in text only");
  fields.unsupported("audio", Json(), "this model answers in text only");
}

}  // namespace

Reply chat_completions(const Json& body, const ModelAccess& model) {
  Fields fields(body);
  GenerationOptions options;
  options.request.max_tokens = 0;  // as many as the context holds
  read_generation_options(fields, model, options);
  read_logprobs(fields, options.request);
  refuse_what_comes_later(fields);
  std::vector<std::vector<int32_t>> prompts;
  prompts.push_back(chat_prompt(fields, model));
  check_choices(fields, 1, model, options);
  check_lengths(fields, "messages", prompts, model, options);
  if (fields.error()) return refusal(*fields.error());

  auto format =
      std::make_unique<ChatFormat>(*model.tokenizer, std::max(0, options.request.top_logprobs));
  return GenerationJob::reply(model, std::move(options), std::move(prompts), std::move(format));
}

}  // namespace halogen::api
