#include "core/api/generation_options.h"

#include <algorithm>
#include <charconv>
#include <random>

namespace halogen::api {
namespace {

constexpr size_t kMostStops = 16;
constexpr size_t kLongestStop = 1024;  // bytes

uint64_t random_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

void read_stop(Fields& fields, std::vector<std::string>& stop) {
  const Json* field = fields.find("stop");
  if (!field) return;
  const Json list = field->is_array() ? *field : Json::array({*field});
  if (list.size() > kMostStops) {
    return fields.refuse("stop", "'stop' has " + std::to_string(list.size()) +
                                     " strings; at most " + std::to_string(kMostStops) +
                                     " are allowed");
  }
  for (const Json& entry : list) {
    if (!entry.is_string()) {
      return fields.refuse("stop",
                           "'stop' must be a string or a list of strings, not " + type_of(entry),
                           "invalid_type");
    }
    const auto& text = entry.get_ref<const std::string&>();
    if (text.size() > kLongestStop) {
      return fields.refuse(
          "stop", "a stop string is longer than " + std::to_string(kLongestStop) + " bytes");
    }
    if (!text.empty()) stop.push_back(text);
  }
}

void read_logit_bias(Fields& fields, size_t vocabulary, std::vector<halogen_logit_bias>& biases) {
  const Json* field = fields.find("logit_bias");
  if (!field) return;
  if (!field->is_object()) {
    return fields.refuse("logit_bias", "'logit_bias' must be an object, not " + type_of(*field),
                         "invalid_type");
  }
  for (const auto& [key, value] : field->items()) {
    int32_t token = -1;
    const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (problem != std::errc() || end != key.data() + key.size() || token < 0 ||
        static_cast<size_t>(token) >= vocabulary) {
      return fields.refuse("logit_bias", "'logit_bias' names the token '" + key +
                                             "'; it must be an id between 0 and " +
                                             std::to_string(vocabulary - 1));
    }
    if (!value.is_number() || value.get<double>() < -100 || value.get<double>() > 100) {
      return fields.refuse("logit_bias",
                           "'logit_bias' of token " + key + " must be between -100 and 100");
    }
    biases.push_back({token, value.get<float>()});
  }
}

void read_stream_options(Fields& fields, GenerationOptions& options) {
  const Json* field = fields.find("stream_options");
  if (!field) return;
  if (!field->is_object()) {
    return fields.refuse("stream_options",
                         "'stream_options' must be an object, not " + type_of(*field),
                         "invalid_type");
  }
  if (!options.stream) {
    return fields.refuse("stream_options", "'stream_options' is only allowed with 'stream': true");
  }
  const auto usage = field->find("include_usage");
  if (usage == field->end() || usage->is_null()) return;
  if (!usage->is_boolean()) {
    return fields.refuse("stream_options.include_usage",
                         "'stream_options.include_usage' must be a boolean", "invalid_type");
  }
  options.include_usage = usage->get<bool>();
}

void read_sampling(Fields& fields, const ModelAccess& model, SamplingOptions& sampling) {
  const auto number = [&](const char* name, double minimum, double maximum, float& target) {
    double value = target;
    fields.number(name, minimum, maximum, value);
    target = static_cast<float>(value);
  };
  sampling = model.sampling;
  number("temperature", 0, 2, sampling.temperature);
  number("top_p", 0, 1, sampling.top_p);
  number("min_p", 0, 1, sampling.min_p);
  number("presence_penalty", -2, 2, sampling.presence_penalty);
  number("frequency_penalty", -2, 2, sampling.frequency_penalty);
  number("repetition_penalty", 0.01, 100, sampling.repetition_penalty);
  int64_t top_k = sampling.top_k;
  fields.integer("top_k", -1, INT32_MAX, top_k);
  sampling.top_k = static_cast<int32_t>(std::max<int64_t>(0, top_k));
  int64_t seed = -1;
  fields.integer("seed", INT64_MIN, INT64_MAX, seed);
  sampling.seed = fields.find("seed") ? static_cast<uint64_t>(seed) : random_seed();
  read_logit_bias(fields, model.engine->limits().vocabulary_size, sampling.logit_bias);
}

}  // namespace

void check_lengths(Fields& fields, const std::string& param,
                   const std::vector<std::vector<int32_t>>& prompts, const ModelAccess& model,
                   const GenerationOptions& options) {
  const uint64_t context = model.engine->limits().max_context;
  const std::string of_context = "the context of " + std::to_string(context) + " tokens";
  for (const std::vector<int32_t>& prompt : prompts) {
    if (prompt.size() >= context) {
      fields.refuse(param,
                    "the prompt has " + std::to_string(prompt.size()) +
                        " tokens and leaves no room for an answer in " + of_context,
                    "context_length_exceeded");
    } else if (prompt.size() + options.request.max_tokens > context) {
      fields.refuse("max_tokens",
                    "the prompt's " + std::to_string(prompt.size()) + " tokens and " +
                        std::to_string(options.request.max_tokens) + " more do not fit " +
                        of_context,
                    "context_length_exceeded");
    }
  }
}

void refuse_unsupported_sampling(Fields& fields) {
  struct Later {
    const char* name;
    Json harmless;
    const char* why;
  };
  const char* bound = "answers cannot be bound to a format yet";
  const char* sampler = "the sampler does not have it yet";
  const Later later[] = {
      {"guided_json", Json(), bound},
      {"guided_regex", Json(), bound},
      {"guided_choice", Json(), bound},
      {"guided_grammar", Json(), bound},
      {"structured_outputs", Json(), bound},
      {"json_schema", Json(), bound},
      {"grammar", "", bound},
      {"typical_p", 1, sampler},
      {"mirostat", 0, sampler},
      {"dry_multiplier", 0, sampler},
      {"xtc_probability", 0, sampler},
      {"min_tokens", 0, sampler},
      {"bad_words", Json::array(), sampler},
      {"allowed_token_ids", Json(), sampler},
      {"stop_token_ids", Json::array(), "end answers with 'stop' strings"},
      {"include_stop_str_in_output", false, "a stop string is never part of the answer"},
      {"prompt_logprobs", Json(), "a prompt's tokens have no log-probabilities yet"},
      {"truncate_prompt_tokens", Json(), "a prompt is never cut"},
      {"use_beam_search", false, "there is no beam search"},
      {"continue_final_message", false, "every answer is a message of its own"},
      {"documents", Json(), "write them into a message"},
      {"chat_template", Json(),
       "the template is the server's; see model.chat_template of its profile"},
  };
  for (const Later& each : later) fields.unsupported(each.name, each.harmless, each.why);
}

void read_generation_options(Fields& fields, const ModelAccess& model, GenerationOptions& options) {
  fields.boolean("stream", options.stream);
  read_stream_options(fields, options);
  fields.integer("n", 1, kMostChoices, options.choices);
  read_sampling(fields, model, options.request.sampling);
  int64_t max_tokens = options.request.max_tokens;
  fields.integer("max_tokens", 1, INT32_MAX, max_tokens);
  fields.integer("max_completion_tokens", 1, INT32_MAX, max_tokens);
  options.request.max_tokens = static_cast<uint32_t>(max_tokens);
  read_stop(fields, options.request.stop);
  fields.boolean("ignore_eos", options.request.ignore_eos);
  fields.boolean("skip_special_tokens", options.request.skip_special);
  fields.boolean("return_token_ids", options.return_token_ids);
  refuse_unsupported_sampling(fields);
  int64_t priority = 0;
  fields.integer("priority", -1000, 1000, priority);
  options.request.priority = static_cast<int32_t>(priority);
}

}  // namespace halogen::api
