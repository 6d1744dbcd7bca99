// The KV memory as sequences use it: block tables over the pool, blocks that several of them share,
// blocks that stay for later ones (the prefix cache), and the second tier.
//
// A waiting sequence holds nothing; look_up() finds how much of it the cache has ready. When it is
// admitted, pin() and attach() give it those blocks and set `computed` behind them. cover() adds
// blocks for what a step computes, record() makes what was computed findable, and release() lets go
// of everything. Blocks that nobody holds stay until others need their place, and count as
// available: free ones are taken before them, and of them the longest unused first.
//
// Full blocks are shared as they are. Of a block that a sequence shares only the beginning of, or
// that another one still writes to, it gets a copy.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/engine/block_pool.h"
#include "core/engine/engine.h"
#include "core/engine/host_tier.h"
#include "core/engine/prefix_cache.h"
#include "core/engine/sequence.h"

namespace halogen {

// Not thread-safe: the engine thread alone uses it. Nothing is allocated after construction. Every
// call takes time in proportion to the blocks that it is about, at most.
class KvMemory {
 public:
  // Nothing is kept or shared for a model with recurrent states, which blocks do not hold.
  KvMemory(const EngineParts& parts, const EngineLimits& limits);

  uint32_t total() const { return pool_.total(); }
  // Whether sequences find what others computed.
  bool shares() const { return keeps_; }
  // Blocks that sequences hold.
  uint32_t used() const { return pool_.used_count() - cached(); }
  // Blocks with content that no sequence holds, here and in the second tier.
  uint32_t cached() const { return cache_.idle_in_pool(); }
  uint32_t cached_in_tier() const { return tier_.used_count(); }
  uint32_t available() const { return pool_.free_count() + cached(); }

  // Of a waiting sequence: finds its first blocks in the cache. Takes constant time, amortised,
  // where it is asked for the same sequence again and again.
  void look_up(Sequence& sequence) const;
  // Tokens that were found, and how many of their blocks cost nothing, since others hold them.
  uint32_t ready_tokens(const Sequence& sequence) const;
  uint32_t shared_blocks(const Sequence& sequence) const;

  // Keeps what was found from being thrown out. All sequences that begin in a step are pinned
  // before any of them is attached or covered.
  void pin(Sequence& sequence);
  // [device] Gives a pinned sequence the blocks found, and a copy of one that begins like its next
  // block. Sets `computed`, leaving at least one token to compute. The pool must have room for one
  // token more than was found.
  void attach(Sequence& sequence);
  // [device] Takes blocks for the first `positions` tokens; there must be enough.
  void cover(Sequence& sequence, uint32_t positions);
  // Enters blocks up to `computed` into the cache. A block that another sequence computed as well
  // meanwhile is given back.
  void record(Sequence& sequence);

  // The sequence holds nothing any more. With `keep`, what was recorded stays findable.
  void release(Sequence& sequence, bool keep);
  // [device] The same, and its blocks move to the second tier at once, as far as there is room.
  void spill(Sequence& sequence);
  // Throws out what a sequence that holds nothing had recorded, but what others share.
  void forget(Sequence& sequence);
  // Throws everything out: the backend failed, and with it perhaps its memory. No sequence may hold
  // anything.
  void clear();

  uint64_t thrown_out_count() const { return thrown_out_; }
  uint64_t stored_count() const { return tier_.stored_count(); }
  uint64_t loaded_count() const { return tier_.loaded_count(); }

  // What is wrong with the books, given all sequences; or empty. Takes time with the size of the
  // pool: for tests and debug builds.
  std::string fault(std::span<const Sequence* const> sequences) const;

 private:
  static constexpr uint32_t kNone = PrefixCache::kNone;

  PrefixCache::Key key_of(Sequence& sequence, uint32_t index, uint32_t end) const;
  uint32_t take();
  void throw_out_oldest();
  bool move_to_tier(uint32_t entry);
  bool take_slot(uint32_t& slot);
  void share(uint32_t entry);
  void let_go(uint32_t block, uint32_t entry);
  void remove(uint32_t entry);
  void remove_with_children(uint32_t entry);
  bool bring_in(uint32_t entry);
  void attach_beginning(Sequence& sequence);
  bool copy_beginning(Sequence& sequence, uint32_t entry);
  void record_full(Sequence& sequence);
  void record_tail(Sequence& sequence);

  const EngineParts& parts_;
  const uint32_t block_tokens_;
  const bool keeps_;
  BlockPool pool_;
  HostTier tier_;
  PrefixCache cache_;  // one of the holders of each block that it has in the pool
  uint64_t thrown_out_ = 0;
};

}  // namespace halogen
