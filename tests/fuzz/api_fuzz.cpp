// Bytes: a line with the path of an endpoint, then the body of a request to it. The API runs over a
// real connection and an engine that checks what it is given and answers with a few words.
#include <nlohmann/json.hpp>

#include "core/api/api.h"
#include "core/config/sampling_limits.h"
#include "core/text/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/loopback.h"
#include "tests/fuzz/small_vocabularies.h"

namespace {

using namespace halogen;
using api::Json;

constexpr const char* kTemplate = R"({%- for message in messages -%}
{%- if message.role == 'tool' and not message.content %}{{ raise_exception('an empty answer') }}{% endif -%}
<|im_start|>{{ message.role }}
{{ message.content }}{{ message.tool_calls | default('') | tojson }}<|im_end|>
{% endfor -%}
{{ tools | tojson }}{{ mood }}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %})";

// Holds the API to what an engine may expect of it.
class CheckingEngine final : public Engine {
 public:
  CheckingEngine(Loop& loop, size_t vocabulary) : loop_(loop) {
    limits_.vocabulary_size = static_cast<uint32_t>(vocabulary);
    limits_.max_context = 512;
    limits_.total_blocks = 1024;
    limits_.max_batch_tokens = limits_.prefill_batch_tokens = 512;
    limits_.max_sequences = 64;
  }

  Result<uint64_t> submit(GenerationRequest request, EventHandler on_event) override {
    check(request);
    const uint64_t id = ++last_id_;
    if (request.priority == 13) return fail(HALOGEN_E_BUSY, "the queue is full");
    loop_.post([this, id, top = request.top_logprobs, on_event = std::move(on_event)] {
      for (const FinishReason finish : {FinishReason::none, FinishReason::length}) {
        if (cancelled_ >= id) return;
        on_event(event(id, finish, top));
      }
    });
    return id;
  }
  void cancel(uint64_t request_id) override { cancelled_ = std::max(cancelled_, request_id); }
  EngineStats stats() const override { return {}; }
  const EngineLimits& limits() const override { return limits_; }

 private:
  void check(const GenerationRequest& request) const {
    fuzz::require(!request.prompt.empty(), "a prompt has a token");
    for (const int32_t id : request.prompt) {
      fuzz::require(id >= 0 && static_cast<uint32_t>(id) < limits_.vocabulary_size,
                    "a prompt's ids have tokens");
    }
    fuzz::require(request.prompt.size() + std::max(1U, request.max_tokens) <= limits_.max_context,
                  "prompt and answer fit the context");
    const SamplingOptions& s = request.sampling;
    namespace limits = sampling_limits;
    const auto within = [](double value, const NumberRange& range) {
      return value >= range.least && value <= range.most &&
             !(range.above_least && value == range.least);
    };
    fuzz::require(
        within(s.temperature, limits::temperature) && within(s.top_p, limits::probability) &&
            within(s.min_p, limits::probability) && within(s.typical_p, limits::probability) &&
            within(s.top_k, limits::top_k) && within(s.top_n_sigma, limits::top_n_sigma) &&
            within(s.repetition_penalty, limits::repetition_penalty) &&
            within(s.xtc_probability, limits::probability) &&
            within(s.dry_multiplier, limits::dry_multiplier) && s.mirostat != 1,
        "sampling parameters are in range");
    for (const halogen_logit_bias& bias : s.logit_bias) {
      fuzz::require(bias.token >= 0 &&
                        static_cast<uint32_t>(bias.token) < limits_.vocabulary_size &&
                        bias.bias >= -100 && bias.bias <= 100,
                    "biases are in range");
    }
    for (const std::string& stop : request.stop) {
      fuzz::require(!stop.empty() && text::valid_prefix(stop) == stop.size(),
                    "stop strings are text");
    }
    fuzz::require(request.top_logprobs >= -1 &&
                      request.top_logprobs <= static_cast<int32_t>(limits_.max_top_logprobs),
                  "top_logprobs is in range");
  }

  static GenerationEvent event(uint64_t id, FinishReason finish, int32_t top_logprobs) {
    GenerationEvent event;
    event.request_id = id;
    event.tokens = {'h', 'i'};
    event.text = "hi";
    event.finish = finish;
    event.prompt_tokens = 1;
    event.generated_tokens = finish == FinishReason::none ? 2 : 4;
    if (top_logprobs < 0) return event;
    event.logprobs = {-0.5F, -1.5F};
    for (int32_t i = 0; i < 2 * top_logprobs; i++) event.top_logprobs.push_back({'a' + i, -2.0F});
    return event;
  }

  Loop& loop_;
  EngineLimits limits_;
  uint64_t last_id_ = 0;
  uint64_t cancelled_ = 0;  // this and all before it, which had the same request
};

// The server with everything that its requests need.
class Service {
 public:
  Service()
      : loopback_([this](const auto& exchange) { api_.handle(exchange); }),
        api_({}, loopback_.loop(), metrics_),
        engine_(loopback_.loop(), tokenizer().size()),
        template_(std::move(*ChatTemplate::parse(kTemplate))) {
    api::ModelAccess model;
    model.engine = &engine_;
    model.tokenizer = &tokenizer();
    model.token_search = &token_search_;
    model.chat_template = &template_;
    model.names = {"tiny", "other"};
    api_.set_model(std::move(model));
    api::ServerState state;
    state.phase = api::ServerState::Phase::ready;
    api_.set_state(std::move(state));
  }

  std::string talk(const std::string& request) { return loopback_.talk({request}); }

 private:
  static const text::Tokenizer& tokenizer() { return *fuzz::small_tokenizers().front().tokenizer; }

  MetricRegistry metrics_;
  fuzz::Loopback loopback_;
  api::Api api_;
  CheckingEngine engine_;
  ChatTemplate template_;
  text::TokenSearch token_search_{tokenizer()};
};

Json read_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  fuzz::require(!json.is_discarded(), "an answer is JSON", text);
  return json;
}

void check_error(const Json& answer) {
  fuzz::require(answer.is_object() && answer.contains("error") && answer["error"].is_object(),
                "an error has OpenAI's shape");
  const Json& error = answer["error"];
  for (const char* part : {"message", "type", "param", "code"}) {
    fuzz::require(error.contains(part), "an error is complete", part);
  }
  fuzz::require(error["message"].is_string() && !error["message"].get<std::string>().empty(),
                "an error says something");
}

// Server-sent events: each is JSON, and the last says that it was.
void check_stream(std::string_view body) {
  bool done = false;
  while (!body.empty()) {
    const auto [event, rest] = fuzz::split_once(body, "\n\n");
    fuzz::require(!done, "nothing follows the end of a stream", body);
    fuzz::require(event.starts_with("data: "), "a stream has events", event);
    done = event == "data: [DONE]";
    if (!done) {
      const Json json = read_json(event.substr(6));
      if (json.contains("error")) {
        check_error(json);
        done = true;
      }
    }
    body = rest;
  }
  fuzz::require(done, "a stream says that it has ended");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Service service;
  const auto [path, body] = fuzz::split_once(fuzz::text_of(data, size), "\n");
  // What a request line may hold is http_fuzz's concern.
  if (path.find_first_not_of("/abcdefghijklmnopqrstuvwxyz0123456789_") != std::string_view::npos) {
    return 0;
  }
  if (path.empty() || path.front() != '/') return 0;
  const std::string wire =
      service.talk("POST " + std::string(path) +
                   " HTTP/1.1\r\nHost: fuzz\r\nContent-Length: " + std::to_string(body.size()) +
                   "\r\nConnection: close\r\n\r\n" + std::string(body));
  std::string_view rest = wire;
  bool whole = true;
  const fuzz::Answer answer = fuzz::take_answer(rest, false, whole);
  fuzz::require(whole && rest.empty(), "a request has one answer", wire);
  fuzz::require(text::valid_prefix(answer.body) == answer.body.size(), "an answer is UTF-8", wire);
  fuzz::require(answer.status < 500, "no request makes the server fail", wire);
  if (answer.status >= 400) {
    check_error(read_json(answer.body));
  } else if (answer.head.find("text/event-stream") != std::string::npos) {
    check_stream(answer.body);
  } else {
    (void)read_json(answer.body);
  }
  return 0;
}
