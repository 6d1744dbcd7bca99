#include "core/api/completions.h"

#include <algorithm>

#include "core/api/generation_job.h"
#include "core/api/logprobs.h"
#include "core/api/messages.h"

namespace halogen::api {
namespace {

using Prompt = std::vector<int32_t>;

constexpr uint32_t kDefaultMaxTokens = 16;  // OpenAI's
constexpr size_t kMostPrompts = 128;

class TextFormat final : public ReplyFormat {
 public:
  TextFormat(const text::Tokenizer& tokenizer, int32_t top_logprobs,
             std::vector<std::string> echoes, size_t choices)
      : tokenizer_(tokenizer),
        top_logprobs_(top_logprobs),
        echoes_(std::move(echoes)),
        offsets_(choices) {}

  const char* id_prefix() const override { return "cmpl-"; }
  const char* object() const override { return "text_completion"; }
  const char* stream_object() const override { return "text_completion"; }
  bool announces() const override { return false; }

  Json whole(size_t index, const std::string& text, Json logprobs) override {
    return Json{{"text", echo(index) + text}, {"logprobs", std::move(logprobs)}};
  }
  Json part(size_t index, const std::string& text, Json logprobs, bool first) override {
    return Json{{"text", first ? echo(index) + text : text}, {"logprobs", std::move(logprobs)}};
  }
  void add_logprobs(size_t index, const GenerationEvent& event, Json& target) override {
    add_text_logprobs(event, top_logprobs_, tokenizer_, offsets_[index], target);
  }

 private:
  // The prompt's text, where it is to be repeated.
  std::string echo(size_t index) const {
    return echoes_.empty() ? "" : echoes_[index * echoes_.size() / offsets_.size()];
  }

  const text::Tokenizer& tokenizer_;
  int32_t top_logprobs_;
  std::vector<std::string> echoes_;  // one for each prompt, or none
  std::vector<size_t> offsets_;      // one for each choice: see add_text_logprobs
};

bool is_token_list(const Json& json) {
  return json.is_array() && !json.empty() &&
         std::all_of(json.begin(), json.end(),
                     [](const Json& entry) { return entry.is_number_integer(); });
}

Prompt read_prompt(Fields& fields, const std::string& param, const Json& json,
                   const ModelAccess& model, bool add_special) {
  Prompt ids;
  if (json.is_string()) {
    if (!fits_context(fields, param.c_str(), json.get_ref<const std::string&>().size(), model))
      return ids;
    const Status encoded =
        model.tokenizer->encode(json.get_ref<const std::string&>(),
                                {.add_special = add_special, .parse_special = true}, ids);
    if (!encoded) fields.refuse(param, encoded.error().message);
  } else if (json.is_array()) {
    fields.token_ids(param, json, model.engine->limits().vocabulary_size, ids);
  } else {
    fields.refuse(param,
                  "'" + param + "' must be a string or a list of token ids, not " + type_of(json),
                  "invalid_type");
  }
  if (ids.empty())
    fields.refuse(param,
                  "'" + param + "' is empty: a model needs at least one token to go on from");
  return ids;
}

std::vector<Prompt> read_prompts(Fields& fields, const ModelAccess& model) {
  const Json* field = fields.find("prompt");
  std::vector<Prompt> prompts;
  if (!field) {
    fields.refuse("prompt", "'prompt' is missing");
    return prompts;
  }
  bool add_special = true;
  fields.boolean("add_special_tokens", add_special);
  if (!field->is_array() || is_token_list(*field)) {
    prompts.push_back(read_prompt(fields, "prompt", *field, model, add_special));
    return prompts;
  }
  if (field->empty() || field->size() > kMostPrompts) {
    fields.refuse("prompt", "'prompt' has " + std::to_string(field->size()) +
                                " entries; it must have 1 to " + std::to_string(kMostPrompts));
    return prompts;
  }
  for (size_t i = 0; i < field->size() && !fields.error(); i++) {
    prompts.push_back(
        read_prompt(fields, "prompt[" + std::to_string(i) + "]", (*field)[i], model, add_special));
  }
  return prompts;
}

// What a client did not ask for must not be what is refused: the default ends with the context.
void shorten_default(GenerationRequest& request, const std::vector<Prompt>& prompts,
                     const ModelAccess& model) {
  size_t longest = 0;
  for (const Prompt& prompt : prompts) longest = std::max(longest, prompt.size());
  const uint32_t context = model.engine->limits().max_context;
  if (longest < context)
    request.max_tokens = std::min(request.max_tokens, context - static_cast<uint32_t>(longest));
}

void read_logprobs(Fields& fields, GenerationRequest& request) {
  const Json* field = fields.find("logprobs");
  if (!field || *field == false) return;
  int64_t top = 0;
  fields.integer("logprobs", 0, kMostTopLogprobs, top);
  request.top_logprobs = static_cast<int32_t>(top);
}

}  // namespace

Reply text_completions(const Json& body, const ModelAccess& model) {
  Fields fields(body);
  GenerationOptions options;
  options.request.max_tokens = kDefaultMaxTokens;
  read_generation_options(fields, model, options);
  read_logprobs(fields, options.request);
  bool echo = false;
  fields.boolean("echo", echo);
  if (echo && options.request.top_logprobs >= 0) {
    fields.refuse(
        "echo",
        "'echo' with 'logprobs' is not supported: a prompt's tokens have no log-probabilities yet",
        "unsupported_parameter");
  }
  fields.unsupported("suffix", "", "text is only added at the end");
  const Json* best_of = fields.find("best_of");
  if (best_of && *best_of != options.choices) {
    fields.refuse("best_of", "'best_of' is not supported: ask for the choices with 'n'",
                  "unsupported_parameter");
  }
  std::vector<Prompt> prompts = read_prompts(fields, model);
  check_choices(fields, prompts.size(), model, options);
  if (!fields.find("max_tokens") && !fields.find("max_completion_tokens"))
    shorten_default(options.request, prompts, model);
  check_lengths(fields, "prompt", prompts, model, options);
  if (fields.error()) return refusal(*fields.error());

  std::vector<std::string> echoes;
  for (size_t i = 0; i < prompts.size() && echo; i++) {
    const Json& given = *fields.find("prompt");
    const Json& one = given.is_array() && !is_token_list(given) ? given[i] : given;
    echoes.push_back(one.is_string() ? one.get<std::string>()
                                     : model.tokenizer->decode(prompts[i]));
  }
  auto format = std::make_unique<TextFormat>(
      *model.tokenizer, std::max(0, options.request.top_logprobs), std::move(echoes),
      prompts.size() * static_cast<size_t>(options.choices));
  return GenerationJob::reply(model, std::move(options), std::move(prompts), std::move(format));
}

}  // namespace halogen::api
