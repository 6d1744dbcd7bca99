// The normalised metadata of a model: keys "halogen.*" with values of known types.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/gguf/value.h"

namespace halogen::gguf {

// Large arrays (tokens, merges, scores) are borrowed from the model's raw metadata, which must
// outlive this; everything else is owned. Moving keeps the values where they are.
class NormalisedMetadata {
 public:
  struct Entry {
    std::string key;
    const Value* value;
  };

  NormalisedMetadata() = default;
  ~NormalisedMetadata() = default;
  NormalisedMetadata(NormalisedMetadata&&) noexcept = default;
  NormalisedMetadata& operator=(NormalisedMetadata&&) noexcept = default;
  NormalisedMetadata(const NormalisedMetadata&) = delete;
  NormalisedMetadata& operator=(const NormalisedMetadata&) = delete;

  // A key that is there already keeps its value.
  void borrow(std::string_view key, const Value& value);
  void own(std::string_view key, Value value);

  const std::vector<Entry>& entries() const { return entries_; }

  const Value* find(std::string_view key) const;  // null where there is none
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // The value of a scalar of that type; empty where there is none or it is an array.
  std::optional<uint64_t> count(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::string_view text(std::string_view key) const;

 private:
  std::vector<Entry> entries_;
  std::deque<Value> owned_;
};

}  // namespace halogen::gguf
