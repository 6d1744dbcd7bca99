#include "core/engine/kv_memory.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "core/base/call_plugin.h"
#include "core/engine/plan.h"

namespace halogen {

KvMemory::KvMemory(const EngineParts& parts, const EngineLimits& limits)
    : parts_(parts),
      block_tokens_(limits.block_tokens),
      keeps_(parts.states == nullptr),
      pool_(limits.total_blocks),
      tier_(parts, limits),
      cache_(limits.total_blocks + limits.host_blocks, limits.block_tokens) {}

// Of a sequence's block `index`, with its tokens before position `end`.
PrefixCache::Key KvMemory::key_of(Sequence& sequence, uint32_t index, uint32_t end) const {
  const uint32_t begin = index * block_tokens_;
  extend_hashes(sequence, std::min(end / block_tokens_, index + 1), block_tokens_);
  return {.parent = index == 0 ? kNone : sequence.prefix[index - 1].entry,
          .root = sequence.root,
          .hash_before = sequence.block_hashes[index],
          .hash = sequence.block_hashes.size() > index + 1 ? sequence.block_hashes[index + 1] : 0,
          .tokens = std::span(sequence.tokens).subspan(begin, end - begin)};
}

void KvMemory::look_up(Sequence& sequence) const {
  while (!sequence.prefix.empty() && !cache_.is_alive(sequence.prefix.back()))
    sequence.prefix.pop_back();
  if (!keeps_ || sequence.looked_up_at == cache_.findable_count()) return;
  sequence.looked_up_at = cache_.findable_count();
  // The last token is computed in any case: its logits are wanted.
  const auto most = static_cast<uint32_t>(sequence.tokens.size() - 1) / block_tokens_;
  while (sequence.prefix.size() < most) {
    const auto index = static_cast<uint32_t>(sequence.prefix.size());
    const uint32_t entry = cache_.find(key_of(sequence, index, (index + 1) * block_tokens_));
    if (entry == kNone) return;
    sequence.prefix.push_back(cache_.reference(entry));
  }
}

uint32_t KvMemory::ready_tokens(const Sequence& sequence) const {
  return static_cast<uint32_t>(sequence.prefix.size()) * block_tokens_;
}

uint32_t KvMemory::shared_blocks(const Sequence& sequence) const {
  // Whoever holds a block holds those before it.
  const auto first_idle =
      std::partition_point(sequence.prefix.begin(), sequence.prefix.end(), [&](CachedBlock block) {
        return cache_.is_held(block.entry) && cache_.is_in_pool(block.entry);
      });
  return static_cast<uint32_t>(first_idle - sequence.prefix.begin());
}

void KvMemory::share(uint32_t entry) {
  pool_.share(cache_.block(entry));
  cache_.hold(entry);
}

void KvMemory::pin(Sequence& sequence) {
  assert(sequence.blocks.empty());
  for (const CachedBlock& found : sequence.prefix) {
    if (cache_.is_in_pool(found.entry)) {
      share(found.entry);
      sequence.blocks.push_back(cache_.block(found.entry));
    } else {
      cache_.hold(found.entry);
    }
  }
}

void KvMemory::attach(Sequence& sequence) {
  while (sequence.blocks.size() < sequence.prefix.size()) {
    const CachedBlock& found = sequence.prefix[sequence.blocks.size()];
    const uint32_t entry = found.entry;
    if (!cache_.is_alive(found)) break;  // another sequence could not bring it in
    if (cache_.is_in_pool(entry)) {
      share(entry);  // another sequence has brought it in
    } else if (!bring_in(entry)) {
      break;
    }
    sequence.blocks.push_back(cache_.block(entry));
  }
  // What could not be brought in is computed.
  const bool all = sequence.blocks.size() == sequence.prefix.size();
  while (sequence.prefix.size() > sequence.blocks.size()) {
    if (cache_.is_alive(sequence.prefix.back())) cache_.let_go(sequence.prefix.back().entry);
    sequence.prefix.pop_back();
  }
  sequence.computed = ready_tokens(sequence);
  if (keeps_ && all) attach_beginning(sequence);
}

// From the second tier; the sequence that wants it and the cache hold it then.
bool KvMemory::bring_in(uint32_t entry) {
  cache_.hold(entry);
  const uint32_t block = take();
  if (!tier_.load(cache_.slot(entry), block)) {
    pool_.release(block);
    return false;
  }
  tier_.release(cache_.slot(entry));
  cache_.move_to_pool(entry, block);
  pool_.share(block);
  return true;
}

void KvMemory::attach_beginning(Sequence& sequence) {
  const auto index = static_cast<uint32_t>(sequence.blocks.size());
  const auto end = static_cast<uint32_t>(
      std::min<size_t>((size_t{index} + 1) * block_tokens_, sequence.tokens.size() - 1));
  if (end == index * block_tokens_) return;
  const auto [entry, tokens] = cache_.closest(key_of(sequence, index, end));
  if (tokens == 0) return;
  if (cache_.is_in_pool(entry) && !cache_.is_full(entry) && !cache_.is_held(entry)) {
    // Nobody else goes on in it: it need not be copied.
    sequence.blocks.push_back(cache_.block(entry));
    cache_.remove(entry);
  } else if (!copy_beginning(sequence, entry)) {
    return;
  }
  sequence.computed += tokens;
}

bool KvMemory::copy_beginning(Sequence& sequence, uint32_t entry) {
  const bool idle = !cache_.is_held(entry);
  cache_.hold(entry);  // so that taking a block does not throw it out
  bool copied = false;
  if (available() > 0) {
    const uint32_t block = take();
    if (cache_.is_in_pool(entry)) {
      const uint32_t source = cache_.block(entry);
      copied = call_plugin([&](halogen_error* error) {
                 return parts_.backend->kv_copy(parts_.kv, &source, &block, 1, error);
               }).ok();
    } else {
      copied = tier_.load(cache_.slot(entry), block);
    }
    if (copied) {
      sequence.blocks.push_back(block);
    } else {
      pool_.release(block);
    }
  }
  if (idle) cache_.let_go(entry);
  // Nobody else goes on in it: the copy takes its place.
  if (idle && copied && !cache_.is_full(entry)) remove(entry);
  return copied;
}

void KvMemory::cover(Sequence& sequence, uint32_t positions) {
  const uint32_t needed = blocks_for(positions, block_tokens_);
  while (sequence.blocks.size() < needed) sequence.blocks.push_back(take());
}

uint32_t KvMemory::take() {
  if (pool_.free_count() == 0) throw_out_oldest();
  return pool_.take();
}

void KvMemory::throw_out_oldest() {
  const uint32_t entry = cache_.oldest_in_pool();
  assert(entry != kNone && "the plan was checked against the number of available blocks");
  if (cache_.is_full(entry) && move_to_tier(entry)) return;
  thrown_out_++;
  remove_with_children(entry);
}

// An idle entry's block; false where it stays.
bool KvMemory::move_to_tier(uint32_t entry) {
  if (cache_.has_children_in_pool(entry)) return false;
  uint32_t slot = kNone;
  cache_.hold(entry);
  const bool moved = take_slot(slot) && tier_.store(cache_.block(entry), slot);
  if (moved) {
    pool_.release(cache_.block(entry));
    cache_.move_to_tier(entry, slot);
  } else if (slot != kNone) {
    tier_.release(slot);
  }
  cache_.let_go(entry);
  return moved;
}

bool KvMemory::take_slot(uint32_t& slot) {
  if (tier_.total() == 0) return false;
  if (!tier_.has_free()) {
    const uint32_t oldest = cache_.oldest_in_tier();
    if (oldest == kNone) return false;
    thrown_out_++;
    remove_with_children(oldest);
  }
  slot = tier_.take();
  return true;
}

// Its block or slot is free then.
void KvMemory::remove(uint32_t entry) {
  if (cache_.is_in_pool(entry)) {
    pool_.release(cache_.block(entry));
  } else {
    tier_.release(cache_.slot(entry));
  }
  cache_.remove(entry);
}

// What is behind it could not be found any more.
void KvMemory::remove_with_children(uint32_t top) {
  while (cache_.has_children(top)) {
    uint32_t leaf = cache_.any_child(top);
    while (cache_.has_children(leaf)) leaf = cache_.any_child(leaf);
    remove(leaf);
  }
  remove(top);
}

void KvMemory::record(Sequence& sequence) {
  if (!keeps_) return;
  while (ready_tokens(sequence) + block_tokens_ <= sequence.computed) record_full(sequence);
  if (sequence.waiting() == 0 && sequence.computed % block_tokens_ != 0) record_tail(sequence);
}

void KvMemory::record_full(Sequence& sequence) {
  const auto index = static_cast<uint32_t>(sequence.prefix.size());
  const PrefixCache::Key key = key_of(sequence, index, (index + 1) * block_tokens_);
  uint32_t& block = sequence.blocks[index];
  uint32_t entry = cache_.find(key);
  const uint32_t tail = sequence.tail_entry;
  sequence.tail_entry = kNone;
  if (entry == kNone && tail != kNone) {
    entry = tail;
    cache_.extend(entry, key.tokens, key.hash);
  } else if (entry == kNone) {
    entry = cache_.insert(key, block);
    pool_.share(block);
  } else {
    // Computed twice, or once more than the second tier has it: one of the two is enough.
    if (tail != kNone) remove(tail);
    cache_.hold(entry);
    if (cache_.is_in_pool(entry)) {
      pool_.share(cache_.block(entry));
      pool_.release(block);
      block = cache_.block(entry);
    } else {
      tier_.release(cache_.slot(entry));
      cache_.move_to_pool(entry, block);
      pool_.share(block);
    }
  }
  sequence.prefix.push_back(cache_.reference(entry));
}

// What is in its last block, which it will go on writing to behind these tokens.
void KvMemory::record_tail(Sequence& sequence) {
  const auto index = static_cast<uint32_t>(sequence.prefix.size());
  const PrefixCache::Key key = key_of(sequence, index, sequence.computed);
  if (sequence.tail_entry != kNone) return cache_.extend(sequence.tail_entry, key.tokens, key.hash);
  sequence.tail_entry = cache_.insert(key, sequence.blocks[index]);
  pool_.share(sequence.blocks[index]);
}

void KvMemory::let_go(uint32_t block, uint32_t entry) {
  pool_.release(block);
  if (entry != kNone && pool_.holders(block) == 1) cache_.let_go(entry);
}

void KvMemory::release(Sequence& sequence, bool keep) {
  assert(sequence.prefix.size() <= sequence.blocks.size());
  // From the end: so nothing in the cache's lists comes before what is behind it in the text.
  for (size_t i = sequence.blocks.size(); i-- > sequence.prefix.size();) {
    const bool recorded = i == sequence.prefix.size();
    let_go(sequence.blocks[i], recorded ? sequence.tail_entry : kNone);
  }
  if (!keep && sequence.tail_entry != kNone) remove(sequence.tail_entry);
  for (size_t i = sequence.prefix.size(); i-- > 0;)
    let_go(sequence.blocks[i], sequence.prefix[i].entry);
  sequence.blocks.clear();
  sequence.tail_entry = kNone;
  sequence.computed = 0;
  if (!keep) forget(sequence);
}

void KvMemory::spill(Sequence& sequence) {
  const uint32_t tail = sequence.tail_entry;
  release(sequence, true);
  if (tier_.total() == 0) return;
  if (tail != kNone && !move_to_tier(tail)) return;
  for (size_t i = sequence.prefix.size(); i-- > 0;) {
    const CachedBlock& block = sequence.prefix[i];
    if (cache_.is_held(block.entry) || !move_to_tier(block.entry)) return;
  }
}

void KvMemory::forget(Sequence& sequence) {
  for (; !sequence.prefix.empty(); sequence.prefix.pop_back()) {
    const CachedBlock& block = sequence.prefix.back();
    if (!cache_.is_alive(block)) continue;
    if (cache_.is_held(block.entry) || cache_.has_children(block.entry)) break;
    remove(block.entry);
  }
  sequence.prefix.clear();
}

void KvMemory::clear() {
  while (cache_.oldest_in_pool() != kNone) remove_with_children(cache_.oldest_in_pool());
  while (cache_.oldest_in_tier() != kNone) remove_with_children(cache_.oldest_in_tier());
  assert(cache_.size() == 0);
}

std::string KvMemory::fault(std::span<const Sequence* const> sequences) const {
  if (const char* what = cache_.fault()) return what;
  std::vector<uint32_t> holders(pool_.total(), 0);
  uint32_t in_tier = 0, in_pool = 0;
  for (const Sequence* sequence : sequences)
    for (const uint32_t block : sequence->blocks) holders[block]++;
  cache_.for_each([&](uint32_t entry) {
    if (!cache_.is_in_pool(entry)) {
      in_tier++;
      return;
    }
    in_pool += !cache_.is_held(entry);
    holders[cache_.block(entry)]++;
  });
  if (in_pool != cached()) return "idle blocks are miscounted";
  if (in_tier != tier_.used_count()) return "the second tier has lost slots";
  uint32_t free = 0;
  for (uint32_t block = 0; block < pool_.total(); block++) {
    free += holders[block] == 0;
    if (holders[block] != pool_.holders(block)) {
      return "block " + std::to_string(block) + " is booked for " +
             std::to_string(pool_.holders(block)) + " holders and has " +
             std::to_string(holders[block]);
    }
  }
  if (free != pool_.free_count()) return "the free blocks are miscounted";
  return {};
}

}  // namespace halogen
