// An engine over the fake device with halogen's own sampler and scheduler, and what came out of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/engine_start.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "fake_device.h"
#include "fake_text.h"
#include "plugins/sampler/factory.h"
#include "plugins/scheduler/factory.h"

namespace halogen::fake {

inline constexpr int32_t kEndToken = 49;

inline EngineLimits small_limits() {
  EngineLimits limits;
  limits.vocabulary_size = 50;
  limits.block_tokens = 4;
  limits.total_blocks = 64;
  limits.max_context = 128;
  limits.max_batch_tokens = 64;
  limits.prefill_batch_tokens = 32;
  limits.max_sequences = 8;
  limits.queue_limit = 64;
  return limits;
}

// A request that runs to its length.
inline GenerationRequest request_of(std::vector<int32_t> prompt, uint32_t max_tokens,
                                    uint64_t seed = 1) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.sampling.seed = seed;
  request.ignore_eos = true;
  return request;
}

// All that one request received.
struct Stream {
  std::vector<int32_t> tokens;
  std::string text;
  std::vector<float> logprobs;
  std::vector<TokenLogprob> top_logprobs;
  std::vector<uint32_t> generated_so_far;  // of each event
  GenerationEvent last;
  bool ended = false;
};

// What the model and the sampler give for a request that runs to its length, worked out without an
// engine.
std::vector<int32_t> expected_tokens(const GenerationRequest& request, uint32_t vocabulary_size);

// The engine, and the loop thread's side of it, which is the thread of the test.
class Served {
 public:
  explicit Served(const EngineLimits& limits = small_limits(),
                  const std::function<void(EngineParts&, Served&)>& change = {});
  ~Served();

  // Submits; the stream fills while run() runs. The id, or the refusal as a test failure.
  uint64_t submit(GenerationRequest request);
  // Makes every step wait for the loop; see await_loop(). For the `change` of the constructor.
  static void in_step_with_loop(EngineParts& parts, Served& self);
  // Makes the first step wait for run().
  static void held_until_run(EngineParts& parts, Served& self);
  // Runs the loop until `done`, which is asked after every event. Fails the test after 60 seconds.
  void run_until(const std::function<bool()>& done);
  // Until every request has ended.
  void run();
  // Lets the loop turn until the engine holds no block; events may come meanwhile.
  void run_until_idle();
  // Ends the engine, so that what its thread wrote may be read.
  void stop() { engine_.reset(); }

  // On the engine thread, from a hook of the device: waits until the loop has come round once, or
  // 20 ms where it does not run. The fake device is so fast that a request would often be over
  // before its first event is delivered.
  void await_loop();
  // The same, until run() or run_until() is called: then all that was submitted before is there.
  void await_run() const;

  // Lets preempted requests move to the second tier. For the `change` of the constructor.
  static void spilling(EngineParts& parts, Served& self);

  Engine& engine() { return *engine_; }
  Device& device() { return device_; }
  Stream& stream(uint64_t id) { return streams_[id]; }
  std::map<uint64_t, Stream>& streams() { return streams_; }
  const std::vector<std::string>& log() const { return log_; }  // valid after stop()
  void cancel(uint64_t id);
  // Called with every event, after the stream has it.
  std::function<void(const GenerationEvent&)> on_event;

 private:
  void receive(const GenerationEvent& event);

  std::unique_ptr<Loop> loop_;
  Device device_;
  halogen_sampler* sampler_ = nullptr;
  halogen_scheduler* scheduler_ = nullptr;
  std::vector<std::string> log_;
  std::vector<uint8_t> host_memory_;
  std::map<uint64_t, Stream> streams_;
  std::function<bool()> done_;
  std::atomic<bool> run_{false};
  std::unique_ptr<Engine> engine_;
};

}  // namespace halogen::fake
