#include "core/api/generation_job.h"

#include <ctime>
#include <exception>
#include <random>
#include <utility>

#include "core/api/timings.h"
#include "core/http/sse.h"

namespace halogen::api {
namespace {

std::string random_id(const char* prefix) {
  static constexpr char alphabet[] =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  thread_local std::mt19937_64 generator{std::random_device{}()};
  std::uniform_int_distribution<size_t> letter(0, sizeof alphabet - 2);
  std::string id = prefix;
  for (int i = 0; i < 24; i++) id += alphabet[letter(generator)];
  return id;
}

template <typename T>
void append(std::vector<T>& target, const std::vector<T>& more) {
  target.insert(target.end(), more.begin(), more.end());
}

ApiError failure(const GenerationEvent& event) {
  if (event.finish == FinishReason::cancelled) {
    return {503, "the server is shutting down", "", "shutting_down"};
  }
  return {500, "the backend failed: " + event.error, "", "backend_error"};
}

}  // namespace

const char* finish_name(FinishReason reason) {
  return reason == FinishReason::length ? "length" : "stop";
}

Reply GenerationJob::reply(const ModelAccess& model, GenerationOptions options,
                           std::vector<std::vector<int32_t>> prompts,
                           std::unique_ptr<ReplyFormat> format) {
  struct Parts {
    GenerationOptions options;
    std::vector<std::vector<int32_t>> prompts;
    std::unique_ptr<ReplyFormat> format;
  };
  // A std::function has to be copyable; its parts need not be.
  const auto parts =
      std::make_shared<Parts>(Parts{std::move(options), std::move(prompts), std::move(format)});
  return [&model, parts](const std::shared_ptr<http::Exchange>& exchange) {
    start(exchange, model, std::move(parts->options), std::move(parts->prompts),
          std::move(parts->format));
  };
}

void GenerationJob::start(std::shared_ptr<http::Exchange> exchange, const ModelAccess& model,
                          GenerationOptions options, std::vector<std::vector<int32_t>> prompts,
                          std::unique_ptr<ReplyFormat> format) {
  if (!exchange->is_open()) return;  // the client left while its request was read
  const std::shared_ptr<GenerationJob> job(
      new GenerationJob(std::move(exchange), model, std::move(options), std::move(format)));
  try {
    if (!job->submit_all(std::move(prompts))) return;
  } catch (const std::exception&) {
    job->cancel_all();
    throw;
  }
  // The engine's event handlers hold the job; the exchange must not, or neither would ever go.
  job->exchange_->set_on_close([weak = std::weak_ptr(job)] {
    if (const auto held = weak.lock()) held->cancel_all();
  });
  if (job->options_.stream) {
    job->streaming_ = true;
    job->exchange_->begin_stream(200, http::kEventStream,
                                 {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}});
  }
}

GenerationJob::GenerationJob(std::shared_ptr<http::Exchange> exchange, const ModelAccess& model,
                             GenerationOptions options, std::unique_ptr<ReplyFormat> format)
    : exchange_(std::move(exchange)),
      engine_(*model.engine),
      model_name_(model.names.front()),
      options_(std::move(options)),
      format_(std::move(format)),
      id_(random_id(format_->id_prefix())),
      created_(static_cast<int64_t>(std::time(nullptr))) {}

bool GenerationJob::submit_all(std::vector<std::vector<int32_t>> prompts) {
  const auto choices = static_cast<size_t>(options_.choices);
  unfinished_ = prompts.size() * choices;
  choices_.resize(unfinished_);
  started_.resize(unfinished_);
  if (options_.stream) chunks_.resize(unfinished_);
  if (options_.return_token_ids) prompt_ids_ = prompts;
  for (size_t p = 0; p < prompts.size(); p++) {
    uint64_t first = 0;
    for (size_t c = 0; c < choices; c++) {
      GenerationRequest request = options_.request;
      request.prompt = c + 1 == choices ? std::move(prompts[p]) : prompts[p];
      request.sampling.seed += c;
      request.shares_with = first;
      const size_t index = p * choices + c;
      auto id = engine_.submit(std::move(request),
                               [self = shared_from_this(), index](const GenerationEvent& event) {
                                 self->receive(index, event);
                               });
      if (!id) {
        fail_with(from_engine(id.error(), engine_.stats()));
        return false;
      }
      if (c == 0) first = *id;
      request_ids_.push_back(*id);
    }
  }
  return true;
}

void GenerationJob::cancel_all() {
  for (const uint64_t id : std::exchange(request_ids_, {})) engine_.cancel(id);
}

void GenerationJob::fail_with(const ApiError& error) {
  const std::shared_ptr<GenerationJob> keep =
      shared_from_this();  // cancelling lets go of the handlers
  cancel_all();
  if (streaming_) {
    send(error_json(error));
    exchange_->end();
  } else {
    respond(*exchange_, error);
  }
}

// The engine's delivery knows nothing of exceptions: a reply that memory does not suffice for is
// cut off, and its request ends.
void GenerationJob::receive(size_t index, const GenerationEvent& event) noexcept {
  try {
    on_event(index, event);
  } catch (const std::exception&) {
    const std::shared_ptr<GenerationJob> keep = shared_from_this();
    cancel_all();
    exchange_->abort();
  }
}

void GenerationJob::on_event(size_t index, const GenerationEvent& event) {
  if (event.finish == FinishReason::error || event.finish == FinishReason::cancelled) {
    return fail_with(failure(event));
  }
  GenerationEvent& choice = choices_[index];
  choice.prompt_tokens = event.prompt_tokens;
  choice.cached_tokens = event.cached_tokens;
  choice.generated_tokens = event.generated_tokens;
  choice.finish = event.finish;
  choice.queued_us = event.queued_us;
  choice.prefill_us = event.prefill_us;
  choice.decode_us = event.decode_us;
  choice.prefill_work = event.prefill_work;
  choice.decode_work = event.decode_work;
  if (options_.stream) {
    send_event(index, event);
  } else {
    choice.text += event.text;
    if (options_.return_token_ids || options_.request.top_logprobs >= 0)
      append(choice.tokens, event.tokens);
    append(choice.logprobs, event.logprobs);
    append(choice.top_logprobs, event.top_logprobs);
  }
  if (event.finish != FinishReason::none && --unfinished_ == 0) finish();
}

void GenerationJob::send_event(size_t index, const GenerationEvent& event) {
  const bool wants_every_token = options_.return_token_ids || options_.request.top_logprobs >= 0;
  const bool ends = event.finish != FinishReason::none;
  if (event.text.empty() && !ends && !wants_every_token) return;

  bool first = !started_[index];
  started_[index] = true;
  if (first && format_->announces()) {
    send(chunk(index, "", Json(), true));
    first = false;
  }
  if (!first && !ends && !wants_every_token) return send_text(index, event.text);

  Json logprobs;
  if (options_.request.top_logprobs >= 0) format_->add_logprobs(index, event, logprobs);
  Json last = chunk(index, event.text, std::move(logprobs), first);
  Json& part = last["choices"][0];
  if (options_.return_token_ids) part["token_ids"] = event.tokens;
  if (ends) part["finish_reason"] = finish_name(event.finish);
  if (ends && unfinished_ == 1) last["timings"] = timings();
  send(last);
}

// What most of a stream consists of.
void GenerationJob::send_text(size_t index, const std::string& text) {
  std::optional<ChunkText>& around = chunks_[index];
  if (!around) around.emplace(chunk(index, std::string(kTextMark), Json(), false));
  event_.clear();
  around->append_event(event_, text);
  exchange_->write(event_);
}

Json GenerationJob::chunk(size_t index, const std::string& text, Json logprobs, bool first) const {
  Json part = format_->part(index, text, std::move(logprobs), first);
  part["index"] = index;
  part["finish_reason"] = nullptr;
  if (first && options_.return_token_ids) {
    part["prompt_token_ids"] = prompt_ids_[index / static_cast<size_t>(options_.choices)];
  }
  Json whole = envelope(format_->stream_object());
  whole["choices"] = Json::array({std::move(part)});
  if (options_.include_usage) whole["usage"] = nullptr;
  return whole;
}

void GenerationJob::finish() {
  request_ids_.clear();
  if (options_.stream) {
    if (options_.include_usage) {
      Json chunk = envelope(format_->stream_object());
      chunk["choices"] = Json::array();
      chunk["usage"] = usage();
      send(chunk);
    }
    exchange_->write(http::kSseDone);
    exchange_->end();
    return;
  }
  // A choice at a time: as JSON objects, log-probabilities take a hundred times their bytes.
  std::string reply = to_text(envelope(format_->object()));
  reply.back() = ',';
  reply += "\"choices\":[";
  for (size_t i = 0; i < choices_.size(); i++) {
    if (i > 0) reply += ',';
    reply += to_text(whole_choice(i));
  }
  reply += "],\"usage\":" + to_text(usage()) + ",\"timings\":" + to_text(timings()) + '}';
  exchange_->respond(200, "application/json", reply);
}

Json GenerationJob::whole_choice(size_t index) {
  GenerationEvent& choice = choices_[index];
  Json logprobs;
  if (options_.request.top_logprobs >= 0) format_->add_logprobs(index, choice, logprobs);
  Json whole = format_->whole(index, choice.text, std::move(logprobs));
  whole["index"] = index;
  whole["finish_reason"] = finish_name(choice.finish);
  if (options_.return_token_ids) {
    whole["token_ids"] = std::move(choice.tokens);
    whole["prompt_token_ids"] = prompt_ids_[index / static_cast<size_t>(options_.choices)];
  }
  return whole;
}

Json GenerationJob::envelope(const char* object) const {
  return Json{{"id", id_}, {"object", object}, {"created", created_}, {"model", model_name_}};
}

Json GenerationJob::usage() const {
  uint64_t prompt = 0, cached = 0, generated = 0;
  for (size_t i = 0; i < choices_.size(); i++) {
    generated += choices_[i].generated_tokens;
    if (i % static_cast<size_t>(options_.choices) != 0) continue;  // a prompt counts once
    prompt += choices_[i].prompt_tokens;
    cached += choices_[i].cached_tokens;
  }
  return Json{{"prompt_tokens", prompt},
              {"completion_tokens", generated},
              {"total_tokens", prompt + generated},
              {"prompt_tokens_details", {{"cached_tokens", cached}}}};
}

Json GenerationJob::timings() const {
  return timings_json(choices_, static_cast<size_t>(options_.choices), engine_.limits().bandwidth);
}

void GenerationJob::send(const Json& event) {
  exchange_->write(http::sse_event(to_text(event)));
}

}  // namespace halogen::api
