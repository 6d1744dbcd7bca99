#include "core/api/generation_options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>

#include "core/config/sampling_limits.h"
#include "core/config/sampling_stages.h"

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
      return fields.refuse("logit_bias", "'logit_bias' names the token '" + shown_text(key) +
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

// The texts of a list, or one text by itself.
std::optional<std::vector<std::string>> read_texts(Fields& fields, const char* name) {
  const Json* field = fields.find(name);
  if (!field) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& entry : field->is_array() ? *field : Json::array({*field})) {
    if (!entry.is_string()) {
      fields.refuse(name,
                    std::string("'") + name + "' must be a list of strings, not " +
                        (field->is_array() ? "of " : "") + type_of(entry),
                    "invalid_type");
      return std::nullopt;
    }
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

void read_stages(Fields& fields, SamplingOptions& sampling) {
  const auto names = read_texts(fields, "samplers");
  if (!names) return;
  auto stages = sampling_stages(*names);
  if (!stages) return fields.refuse("samplers", "'samplers' " + stages.error().message);
  sampling.stages = std::move(*stages);
}

void read_dry_breakers(Fields& fields, const ModelAccess& model, SamplingOptions& sampling) {
  constexpr const char* name = "dry_sequence_breakers";
  auto breakers = read_texts(fields, name);
  if (!breakers) return;
  if (breakers->size() > sampling_limits::kMostDryBreakers) {
    return fields.refuse(name, "'dry_sequence_breakers' has " + std::to_string(breakers->size()) +
                                   " strings; at most " +
                                   std::to_string(sampling_limits::kMostDryBreakers) +
                                   " are allowed");
  }
  for (const std::string& breaker : *breakers) {
    if (!breaker.empty() && breaker.size() <= sampling_limits::kLongestDryBreaker) continue;
    return fields.refuse(name, "a string of 'dry_sequence_breakers' has " +
                                   std::to_string(breaker.size()) + " bytes; it must have 1 to " +
                                   std::to_string(sampling_limits::kLongestDryBreaker));
  }
  if (sampling.dry_multiplier <= 0) return;
  auto sequences = model.token_search->sequences(*breakers);
  if (!sequences)
    return fields.refuse(name, "'dry_sequence_breakers': " + sequences.error().message);
  sampling.dry_breakers = std::move(*sequences);
}

void read_sampling(Fields& fields, const ModelAccess& model, SamplingOptions& sampling) {
  namespace limits = sampling_limits;
  const auto number = [&](const char* name, const NumberRange& range, float& target) {
    double value = target;
    fields.number(name, range, value);
    target = static_cast<float>(value);
  };
  const auto integer = [&](const char* name, const NumberRange& range, auto& target) {
    int64_t value = target;
    fields.integer(name, static_cast<int64_t>(range.least), static_cast<int64_t>(range.most),
                   value);
    target = static_cast<std::remove_reference_t<decltype(target)>>(value);
  };
  sampling = model.sampling;
  number("temperature", limits::temperature, sampling.temperature);
  number("dynatemp_range", limits::dynatemp_range, sampling.dynatemp_range);
  number("dynatemp_exponent", limits::dynatemp_exponent, sampling.dynatemp_exponent);
  integer("top_k", limits::top_k, sampling.top_k);
  sampling.top_k = std::max(sampling.top_k, 0);
  number("top_p", limits::probability, sampling.top_p);
  number("min_p", limits::probability, sampling.min_p);
  number("typical_p", limits::probability, sampling.typical_p);
  number("top_n_sigma", limits::top_n_sigma, sampling.top_n_sigma);
  number("xtc_probability", limits::probability, sampling.xtc_probability);
  number("xtc_threshold", limits::probability, sampling.xtc_threshold);
  number("presence_penalty", limits::presence_penalty, sampling.presence_penalty);
  number("frequency_penalty", limits::frequency_penalty, sampling.frequency_penalty);
  // vLLM's and llama.cpp's names of one parameter.
  number("repeat_penalty", limits::repetition_penalty, sampling.repetition_penalty);
  number("repetition_penalty", limits::repetition_penalty, sampling.repetition_penalty);
  integer("repeat_last_n", limits::last_n, sampling.penalty_window);
  number("dry_multiplier", limits::dry_multiplier, sampling.dry_multiplier);
  number("dry_base", limits::dry_base, sampling.dry_base);
  integer("dry_allowed_length", limits::dry_allowed_length, sampling.dry_allowed_length);
  integer("dry_penalty_last_n", limits::last_n, sampling.dry_penalty_last_n);
  read_dry_breakers(fields, model, sampling);
  integer("mirostat", limits::mirostat, sampling.mirostat);
  if (sampling.mirostat == 1)
    fields.refuse("mirostat", std::string("'mirostat' is 1: ") + limits::kNoMirostat1,
                  "unsupported_parameter");
  number("mirostat_tau", limits::mirostat_tau, sampling.mirostat_tau);
  number("mirostat_eta", limits::mirostat_eta, sampling.mirostat_eta);
  read_stages(fields, sampling);
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
    } else if (prompt.size() + options.request.min_tokens > context) {
      fields.refuse("min_tokens",
                    "the prompt's " + std::to_string(prompt.size()) + " tokens and " +
                        std::to_string(options.request.min_tokens) + " more do not fit " +
                        of_context,
                    "context_length_exceeded");
    }
  }
}

void check_choices(Fields& fields, size_t prompts, const ModelAccess& model,
                   const GenerationOptions& options) {
  const EngineLimits& limits = model.engine->limits();
  const uint64_t capacity = uint64_t{limits.max_sequences} + limits.queue_limit;
  const uint64_t most = std::min<uint64_t>(kMostChoices, capacity);
  const uint64_t wanted = prompts * static_cast<uint64_t>(options.choices);
  if (wanted > most) {
    fields.refuse("n", "prompts times 'n' is " + std::to_string(wanted) + ", which is more than " +
                           std::to_string(most));
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
  int64_t min_tokens = 0;
  fields.integer("min_tokens", 0, INT32_MAX, min_tokens);
  options.request.min_tokens = static_cast<uint32_t>(min_tokens);
  if (max_tokens > 0 && min_tokens > max_tokens) {
    fields.refuse("min_tokens", "'min_tokens' is " + std::to_string(min_tokens) +
                                    ", more than the " + std::to_string(max_tokens) +
                                    " tokens of 'max_tokens'");
  }
  fields.boolean("cache_prompt", options.request.cache_prompt);
  fields.boolean("ignore_eos", options.request.ignore_eos);
  fields.boolean("skip_special_tokens", options.request.skip_special);
  fields.boolean("return_token_ids", options.return_token_ids);
  refuse_unsupported_sampling(fields);
  int64_t priority = 0;
  fields.integer("priority", -1000, 1000, priority);
  options.request.priority = static_cast<int32_t>(priority);
}

}  // namespace halogen::api
