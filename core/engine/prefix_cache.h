// Which blocks of computed tokens are kept, and how they are found again.
//
// A block is known by the tokens in it and by the block before it, so that the entries form a tree
// in which every path is a text. They are found by a hash of the whole path, and an entry is only
// taken for found when its tokens and the entry before it are the wanted ones: two texts with one
// hash never pass for each other. A text's first block is bound to a root: texts with different
// roots share nothing.
//
// An entry's block is in the KV pool, or in the second tier at a place that is called slot here.
// Entries that no sequence holds are in a list by when they were let go, one list for each tier. A
// sequence that holds a block also holds those before it, and lets the later ones go first;
// therefore the first entry in a list never has another one of its tier behind it in the tree.
//
// This is only the book: what is counted, copied or computed is KvMemory's affair. Every call takes
// constant time but where it says otherwise, and nothing is allocated after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace halogen {

// The hash of a text's blocks up to one more that has `tokens`. A root's hash stands before the
// first block.
uint64_t hash_block(uint64_t hash_before, std::span<const int32_t> tokens);
// `identity` is of what computes: the same tokens have other keys and values in another model.
uint64_t hash_root(uint64_t identity, uint64_t root);

// An entry as it was at a time; it may have been removed since.
struct CachedBlock {
  uint32_t entry = std::numeric_limits<uint32_t>::max();
  uint32_t generation = 0;
};

// Not thread-safe: the engine thread alone uses it.
class PrefixCache {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // What a block is known by.
  struct Key {
    uint32_t parent;                  // the entry of the block before it, or kNone
    uint64_t root;                    // counts where there is no parent
    uint64_t hash_before;             // of the blocks before it
    uint64_t hash;                    // with this one
    std::span<const int32_t> tokens;  // in it
  };

  // Room for `entries` blocks of `block_tokens` tokens.
  PrefixCache(uint32_t entries, uint32_t block_tokens);

  // The entry of a full block, or kNone.
  uint32_t find(const Key& key) const;

  struct Beginning {
    uint32_t entry = kNone;
    uint32_t tokens = 0;  // how many the two have in common
  };
  // Of the newest entries behind key.parent the one that begins with most of key.tokens. Looks at a
  // bounded number of them; key.hash does not count.
  Beginning closest(const Key& key) const;

  // A new entry whose block is in the pool. One with fewer tokens than a block has is only found by
  // closest(). There must be room.
  uint32_t insert(const Key& key, uint32_t block);
  // An entry with fewer tokens gets those that it lacks of `tokens`.
  void extend(uint32_t entry, std::span<const int32_t> tokens, uint64_t hash);
  // There must be nothing behind it.
  void remove(uint32_t entry);
  // Any entry directly behind this one, which must have some. Takes time with the length of a hash
  // bucket.
  uint32_t any_child(uint32_t entry) const;

  // No sequence holds it any more; the newest of its tier. / A sequence does, or is about to.
  void let_go(uint32_t entry);
  void hold(uint32_t entry);
  bool is_held(uint32_t entry) const { return entries_[entry].place == Place::held; }
  // The one that was let go first, or kNone.
  uint32_t oldest_in_pool() const { return in_pool_.first; }
  uint32_t oldest_in_tier() const { return in_tier_.first; }
  uint32_t idle_in_pool() const { return in_pool_.count; }

  // Moves between the tiers; the entry must be held. What is behind it goes to the second tier
  // before it, and comes back after it.
  void move_to_tier(uint32_t entry, uint32_t slot);
  void move_to_pool(uint32_t entry, uint32_t block);

  CachedBlock reference(uint32_t entry) const { return {entry, entries_[entry].generation}; }
  bool is_alive(const CachedBlock& block) const {
    return block.entry != kNone && entries_[block.entry].generation == block.generation;
  }
  bool is_in_pool(uint32_t entry) const { return entries_[entry].block != kNone; }
  bool is_full(uint32_t entry) const { return entries_[entry].tokens == block_tokens_; }
  bool has_children(uint32_t entry) const { return entries_[entry].children > 0; }
  bool has_children_in_pool(uint32_t entry) const { return entries_[entry].children_in_pool > 0; }
  uint32_t block(uint32_t entry) const { return entries_[entry].block; }
  uint32_t slot(uint32_t entry) const { return entries_[entry].slot; }

  uint32_t size() const { return entries_in_use_; }
  // Grows with every full block that can be found anew.
  uint64_t findable_count() const { return findable_; }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (uint32_t i = 0; i < entries_.size(); i++)
      if (entries_[i].place != Place::unused) visit(i);
  }
  // What is wrong with the book, or null. Takes time with the number of entries: for tests.
  const char* fault() const;

 private:
  enum class Place : uint8_t { unused, held, in_pool, in_tier };
  struct Link {
    uint32_t previous = kNone, next = kNone;
  };
  struct List {
    uint32_t first = kNone, last = kNone, count = 0;
  };
  struct Entry {
    uint64_t root = 0, hash_before = 0, hash = 0;
    uint32_t parent = kNone, children = 0, children_in_pool = 0;
    uint32_t tokens = 0;
    uint32_t block = kNone, slot = kNone;
    uint32_t generation = 0;
    Place place = Place::unused;
    Link same_hash, siblings, age;
  };

  size_t bucket(uint64_t hash) const { return hash & (by_hash_.size() - 1); }
  bool is_behind(const Entry& entry, const Key& key) const {
    return entry.parent == key.parent && (key.parent != kNone || entry.root == key.root);
  }
  std::span<const int32_t> tokens_of(uint32_t entry) const {
    return {tokens_.data() + size_t{entry} * block_tokens_, entries_[entry].tokens};
  }
  List* list_of(Place place);
  template <Link Entry::* Which>
  void push_front(uint32_t& first, uint32_t entry);
  template <Link Entry::* Which>
  void unlink(uint32_t& first, uint32_t entry);

  const uint32_t block_tokens_;
  std::vector<Entry> entries_;
  std::vector<int32_t> tokens_;  // [entries, block_tokens]
  std::vector<uint32_t> unused_;
  std::vector<uint32_t> by_hash_;    // first entry of each bucket: full blocks, by their hash
  std::vector<uint32_t> by_parent_;  // all, by the hash before them
  List in_pool_, in_tier_;           // not held, oldest first
  uint32_t entries_in_use_ = 0;
  uint64_t findable_ = 0;
};

}  // namespace halogen
