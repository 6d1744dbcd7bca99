// Remembers which tokens their own text encodes to. Most words of ordinary text are a token, and a
// vocabulary's merges nearly always build it; but only nearly, so that each token is merged once
// before it is believed. From then on the word costs one look-up.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/text/vocabulary.h"

namespace halogen::text {

class KnownWords {
 public:
  explicit KnownWords(size_t tokens) : whole_(std::make_unique<std::atomic<bool>[]>(tokens)) {}

  // [any] True once remember() was called for that token. Relaxed: a flag says nothing about other
  // memory, and a thread that sees it late only merges the word again.
  bool is_whole(TokenId id) const {
    return whole_[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  }
  void remember(TokenId id) const {
    whole_[static_cast<size_t>(id)].store(true, std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<std::atomic<bool>[]> whole_;
};

}  // namespace halogen::text
