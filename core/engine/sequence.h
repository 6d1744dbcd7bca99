// One request on its way through the engine.
//
// The loop thread makes a Sequence when it accepts a request and hands it to the engine thread,
// which alone uses it until it hands it back to be destroyed. Only `cancelled` is shared while the
// engine thread has it. All that a sequence will ever need is reserved when it is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "halogen/sampler.h"

#include "core/engine/prefix_cache.h"
#include "core/engine/request.h"
#include "core/engine/text_sink.h"
#include "core/loop/mailbox.h"

namespace halogen {

struct SamplingStateDeleter {
  const halogen_sampler_factory* sampler = nullptr;
  void operator()(halogen_sampling_state* state) const { sampler->state_destroy(state); }
};
using SamplingState = std::unique_ptr<halogen_sampling_state, SamplingStateDeleter>;

struct Sequence : MailboxLink {
  // What was asked.
  uint64_t id = 0;
  uint32_t prompt_tokens = 0;
  uint32_t max_tokens = 0;  // to generate; at least 1
  uint32_t min_tokens = 0;  // to generate before an end-of-generation token can be chosen
  int32_t top_logprobs = -1;
  int32_t priority = 0;
  bool ignore_eos = false;
  uint64_t root = 0;  // of its text in the prefix cache: 0, or what it shares it with alone

  // Where it stands.
  std::vector<int32_t> tokens;   // the prompt, then what was generated
  uint32_t computed = 0;         // of these, how many are in the KV pool
  std::vector<uint32_t> blocks;  // its block table
  // What the prefix cache knows of it: the hash before each of its blocks as far as they were
  // needed, its first blocks there, and the entry of the block that it writes to, if any.
  std::vector<uint64_t> block_hashes;
  std::vector<CachedBlock> prefix;
  uint32_t tail_entry = PrefixCache::kNone;
  uint64_t looked_up_at = 0;   // the cache's findable_count() then
  uint32_t cached_tokens = 0;  // of the prompt, that were not computed for it
  uint32_t state_slot = 0;     // of the recurrent layers; valid while running
  bool running = false;        // admitted: may hold blocks, has a state slot
  bool ended = false;          // has its finish reason
  bool failed = false;         // which is an error
  SamplingState sampling;
  std::vector<uint32_t> no_end;  // the mask while there are fewer than min_tokens; else empty
  std::unique_ptr<TextSink> text;

  // When what happened, in microseconds of the monotonic clock; 0 while it has not.
  uint64_t submitted_us = 0;
  uint64_t first_step_us = 0;
  uint64_t first_token_us = 0;
  RequestWork prefill_work, decode_work;  // see GenerationEvent

  // Its event in the batch of events that is being filled; see outbox.h.
  uint64_t event_batch = 0;
  size_t event_index = 0;

  std::atomic<bool> cancelled{false};

  uint32_t generated() const { return static_cast<uint32_t>(tokens.size()) - prompt_tokens; }
  uint32_t known() const { return static_cast<uint32_t>(tokens.size()); }
  // Known but not in the KV pool: 1 while decoding, more in the prompt or after a preemption.
  uint32_t waiting() const { return known() - computed; }
};

// Hashes before its first `blocks` + 1 blocks, which must be known in full.
inline void extend_hashes(Sequence& sequence, uint32_t blocks, uint32_t block_tokens) {
  for (size_t i = sequence.block_hashes.size(); i <= blocks; i++) {
    const auto tokens = std::span(sequence.tokens).subspan((i - 1) * block_tokens, block_tokens);
    sequence.block_hashes.push_back(hash_block(sequence.block_hashes.back(), tokens));
  }
}

}  // namespace halogen
