// One request of a client while it is being answered: its choices run in the engine, and what they
// gain becomes either a stream of events or, at the end, one reply.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/chunk_text.h"
#include "core/api/endpoint.h"
#include "core/api/generation_options.h"
#include "core/http/exchange.h"

namespace halogen::api {

// How an endpoint words its replies.
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;
  virtual const char* id_prefix() const = 0;      // "chatcmpl-"
  virtual const char* object() const = 0;         // "chat.completion"
  virtual const char* stream_object() const = 0;  // "chat.completion.chunk"
  // A choice of a whole reply, without index and finish_reason.
  virtual Json whole(size_t index, const std::string& text, Json logprobs) = 0;
  // A choice of a chunk, likewise; `text` is what is new, `logprobs` of the new tokens.
  virtual Json part(size_t index, const std::string& text, Json logprobs, bool first) = 0;
  // Adds the event's logprobs to `target` (null at first), which is then a whole reply's or one
  // chunk's.
  virtual void add_logprobs(size_t index, const GenerationEvent& event, Json& target) = 0;
  // Whether a stream's first chunk comes before any text.
  virtual bool announces() const = 0;
};

class GenerationJob : public std::enable_shared_from_this<GenerationJob> {
 public:
  // [any] The reply that submits `prompts.size() * options.choices` sequences and answers from the
  // engine's events, errors included.
  static Reply reply(const ModelAccess& model, GenerationOptions options,
                     std::vector<std::vector<int32_t>> prompts,
                     std::unique_ptr<ReplyFormat> format);

 private:
  static void start(std::shared_ptr<http::Exchange> exchange, const ModelAccess& model,
                    GenerationOptions options, std::vector<std::vector<int32_t>> prompts,
                    std::unique_ptr<ReplyFormat> format);
  GenerationJob(std::shared_ptr<http::Exchange> exchange, const ModelAccess& model,
                GenerationOptions options, std::unique_ptr<ReplyFormat> format);
  bool submit_all(std::vector<std::vector<int32_t>> prompts);
  void cancel_all();
  void receive(size_t index, const GenerationEvent& event) noexcept;
  void on_event(size_t index, const GenerationEvent& event);
  void send_event(size_t index, const GenerationEvent& event);
  void send_text(size_t index, const std::string& text);
  Json chunk(size_t index, const std::string& text, Json logprobs, bool first) const;
  void finish();
  Json whole_choice(size_t index);
  void fail_with(const ApiError& error);
  Json envelope(const char* object) const;
  Json usage() const;
  Json timings() const;
  void send(const Json& event);

  std::shared_ptr<http::Exchange> exchange_;
  Engine& engine_;
  std::string model_name_;
  GenerationOptions options_;
  std::unique_ptr<ReplyFormat> format_;
  std::string id_;
  int64_t created_;
  std::vector<uint64_t> request_ids_;
  std::vector<GenerationEvent> choices_;          // what each has gained so far
  std::vector<bool> started_;                     // the choice has sent its first chunk
  std::vector<std::optional<ChunkText>> chunks_;  // of each choice, once it has sent plain text
  std::string event_;                             // the last event that was sent
  std::vector<std::vector<int32_t>> prompt_ids_;  // where token ids are to be returned
  size_t unfinished_ = 0;
  bool streaming_ = false;  // the head of a stream has been sent
};

// "stop" or "length".
const char* finish_name(FinishReason reason);

}  // namespace halogen::api
