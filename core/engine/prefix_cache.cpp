#include "core/engine/prefix_cache.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace halogen {

namespace {

// Many conversations can go on after one system prompt; what they have in common with a new one is
// in any of them.
constexpr uint32_t kMostSiblings = 8;

// The finalizer of splitmix64 (Steele, Lea and Flood 2014).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t hash_block(uint64_t hash_before, std::span<const int32_t> tokens) {
  uint64_t hash = hash_before;
  for (const int32_t token : tokens) {
    hash = (hash ^ static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return mix(hash);
}

uint64_t hash_root(uint64_t identity, uint64_t root) {
  return mix(mix(identity) + root);
}

PrefixCache::PrefixCache(uint32_t entries, uint32_t block_tokens)
    : block_tokens_(block_tokens),
      entries_(entries),
      tokens_(size_t{entries} * block_tokens),
      unused_(entries),
      by_hash_(std::bit_ceil(size_t{entries} + 1), kNone),
      by_parent_(by_hash_.size(), kNone) {
  for (uint32_t i = 0; i < entries; i++) unused_[i] = entries - 1 - i;
}

template <PrefixCache::Link PrefixCache::Entry::* Which>
void PrefixCache::push_front(uint32_t& first, uint32_t entry) {
  entries_[entry].*Which = {kNone, first};
  if (first != kNone) (entries_[first].*Which).previous = entry;
  first = entry;
}

template <PrefixCache::Link PrefixCache::Entry::* Which>
void PrefixCache::unlink(uint32_t& first, uint32_t entry) {
  const Link link = entries_[entry].*Which;
  if (link.previous != kNone) {
    (entries_[link.previous].*Which).next = link.next;
  } else {
    first = link.next;
  }
  if (link.next != kNone) (entries_[link.next].*Which).previous = link.previous;
}

PrefixCache::List* PrefixCache::list_of(Place place) {
  if (place == Place::in_pool) return &in_pool_;
  return place == Place::in_tier ? &in_tier_ : nullptr;
}

uint32_t PrefixCache::find(const Key& key) const {
  for (uint32_t i = by_hash_[bucket(key.hash)]; i != kNone; i = entries_[i].same_hash.next) {
    if (entries_[i].hash == key.hash && is_behind(entries_[i], key) &&
        std::ranges::equal(tokens_of(i), key.tokens)) {
      return i;
    }
  }
  return kNone;
}

PrefixCache::Beginning PrefixCache::closest(const Key& key) const {
  Beginning best;
  uint32_t looked_at = 0;
  for (uint32_t i = by_parent_[bucket(key.hash_before)]; i != kNone && looked_at < kMostSiblings;
       i = entries_[i].siblings.next, looked_at++) {
    if (!is_behind(entries_[i], key)) continue;
    const std::span<const int32_t> have = tokens_of(i);
    const auto differ = std::ranges::mismatch(have, key.tokens);
    const auto common = static_cast<uint32_t>(differ.in1 - have.begin());
    if (common > best.tokens) best = {i, common};
  }
  return best;
}

uint32_t PrefixCache::insert(const Key& key, uint32_t block) {
  assert(!unused_.empty() && "every entry has a block or a slot of its own");
  const uint32_t index = unused_.back();
  unused_.pop_back();
  entries_in_use_++;
  Entry& entry = entries_[index];
  entry.root = key.root;
  entry.hash_before = key.hash_before;
  entry.parent = key.parent;
  entry.children = entry.children_in_pool = entry.tokens = 0;
  entry.block = block;
  entry.slot = kNone;
  entry.place = Place::held;
  if (key.parent != kNone) {
    entries_[key.parent].children++;
    entries_[key.parent].children_in_pool++;
  }
  push_front<&Entry::siblings>(by_parent_[bucket(key.hash_before)], index);
  extend(index, key.tokens, key.hash);
  return index;
}

void PrefixCache::extend(uint32_t index, std::span<const int32_t> tokens, uint64_t hash) {
  Entry& entry = entries_[index];
  assert(tokens.size() <= block_tokens_ && entry.tokens <= tokens.size());
  int32_t* const own = tokens_.data() + size_t{index} * block_tokens_;
  std::copy(tokens.begin() + entry.tokens, tokens.end(), own + entry.tokens);
  entry.tokens = static_cast<uint32_t>(tokens.size());
  if (!is_full(index)) return;
  entry.hash = hash;
  push_front<&Entry::same_hash>(by_hash_[bucket(hash)], index);
  findable_++;
}

void PrefixCache::remove(uint32_t index) {
  Entry& entry = entries_[index];
  assert(entry.children == 0 && entry.place != Place::unused);
  hold(index);
  if (is_full(index)) unlink<&Entry::same_hash>(by_hash_[bucket(entry.hash)], index);
  unlink<&Entry::siblings>(by_parent_[bucket(entry.hash_before)], index);
  if (entry.parent != kNone) {
    entries_[entry.parent].children--;
    entries_[entry.parent].children_in_pool -= is_in_pool(index);
  }
  entry.generation++;
  entry.place = Place::unused;
  entries_in_use_--;
  unused_.push_back(index);
}

uint32_t PrefixCache::any_child(uint32_t parent) const {
  uint32_t i = by_parent_[bucket(entries_[parent].hash)];
  while (entries_[i].parent != parent) i = entries_[i].siblings.next;
  return i;
}

void PrefixCache::let_go(uint32_t index) {
  Entry& entry = entries_[index];
  if (entry.place != Place::held) return;
  entry.place = is_in_pool(index) ? Place::in_pool : Place::in_tier;
  List& list = *list_of(entry.place);
  entry.age = {list.last, kNone};
  (list.last != kNone ? entries_[list.last].age.next : list.first) = index;
  list.last = index;
  list.count++;
}

void PrefixCache::hold(uint32_t index) {
  Entry& entry = entries_[index];
  List* list = list_of(entry.place);
  if (list == nullptr) return;
  if (list->last == index) list->last = entry.age.previous;
  unlink<&Entry::age>(list->first, index);
  list->count--;
  entry.place = Place::held;
}

void PrefixCache::move_to_tier(uint32_t index, uint32_t slot) {
  Entry& entry = entries_[index];
  assert(is_held(index) && entry.children_in_pool == 0);
  entry.block = kNone;
  entry.slot = slot;
  if (entry.parent != kNone) entries_[entry.parent].children_in_pool--;
}

void PrefixCache::move_to_pool(uint32_t index, uint32_t block) {
  Entry& entry = entries_[index];
  assert(is_held(index));
  entry.block = block;
  entry.slot = kNone;
  if (entry.parent != kNone) entries_[entry.parent].children_in_pool++;
}

const char* PrefixCache::fault() const {
  std::vector<uint32_t> children(entries_.size()), in_pool(entries_.size());
  uint32_t used = 0, idle_in_pool = 0, idle_in_tier = 0;
  for (uint32_t i = 0; i < entries_.size(); i++) {
    const Entry& entry = entries_[i];
    if (entry.place == Place::unused) continue;
    used++;
    idle_in_pool += entry.place == Place::in_pool;
    idle_in_tier += entry.place == Place::in_tier;
    if (is_in_pool(i) == (entry.slot != kNone)) return "an entry is not in exactly one tier";
    if (entry.place == Place::in_pool && !is_in_pool(i)) return "an entry is in the wrong list";
    if (entry.place == Place::in_tier && is_in_pool(i)) return "an entry is in the wrong list";
    if (entry.parent == kNone) continue;
    children[entry.parent]++;
    in_pool[entry.parent] += is_in_pool(i);
    const Entry& parent = entries_[entry.parent];
    if (parent.place == Place::unused) return "an entry is behind one that was removed";
    if (parent.tokens != block_tokens_) return "an entry is behind one that is not full";
    if (parent.hash != entry.hash_before) return "an entry's hash does not follow";
    if (is_in_pool(i) && !is_in_pool(entry.parent)) return "an entry is behind one of the tier";
    if (is_held(i) && !is_held(entry.parent)) return "a held entry is behind one that is not";
  }
  if (used != entries_in_use_ || used + unused_.size() != entries_.size())
    return "entries are lost";
  if (idle_in_pool != in_pool_.count || idle_in_tier != in_tier_.count)
    return "the lists miss entries";
  for (uint32_t i = 0; i < entries_.size(); i++) {
    if (entries_[i].place == Place::unused) continue;
    if (entries_[i].children != children[i] || entries_[i].children_in_pool != in_pool[i])
      return "an entry's children are miscounted";
  }
  return nullptr;
}

}  // namespace halogen
