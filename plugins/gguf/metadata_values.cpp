#include "plugins/gguf/metadata_values.h"

#include <utility>

namespace halogen::gguf {

void NormalisedMetadata::borrow(std::string_view key, const Value& value) {
  if (!has(key)) entries_.push_back({std::string(key), &value});
}

void NormalisedMetadata::own(std::string_view key, Value value) {
  if (has(key)) return;
  owned_.push_back(std::move(value));
  entries_.push_back({std::string(key), &owned_.back()});
}

const Value* NormalisedMetadata::find(std::string_view key) const {
  for (const Entry& entry : entries_)
    if (entry.key == key) return entry.value;
  return nullptr;
}

std::optional<uint64_t> NormalisedMetadata::count(std::string_view key) const {
  const Value* value = find(key);
  return value && !value->is_array ? value->unsigned_at(0) : std::nullopt;
}

std::optional<double> NormalisedMetadata::real(std::string_view key) const {
  const Value* value = find(key);
  return value && !value->is_array ? value->real_at(0) : std::nullopt;
}

std::optional<bool> NormalisedMetadata::flag(std::string_view key) const {
  const Value* value = find(key);
  if (!value || !value->is_scalar(ValueType::boolean)) return std::nullopt;
  return value->bytes[0] != std::byte{0};
}

std::string_view NormalisedMetadata::text(std::string_view key) const {
  const Value* value = find(key);
  return value && !value->is_array ? value->text_at(0) : std::string_view{};
}

}  // namespace halogen::gguf
