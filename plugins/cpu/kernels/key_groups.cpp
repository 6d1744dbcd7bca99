#include "plugins/cpu/kernels/key_groups.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace halogen::cpu {
namespace {

// Where a slot lies.
struct Place {
  size_t group;   // the byte at which its group begins
  uint32_t rows;  // of the group
  uint32_t lane;

  Place(const KeyRows& keys, uint32_t slot)
      : group(slot / kKeyGroup * kKeyGroup * keys.row_bytes),
        rows(std::min(kKeyGroup, keys.block_tokens - slot / kKeyGroup * kKeyGroup)),
        lane(slot % kKeyGroup) {}
};

template <size_t Bytes>
using Constant = std::integral_constant<size_t, Bytes>;

// Calls visit(offset, size) for each unit of bytes [0, bytes) of a row; the size is a constant.
template <class Visit>
void for_each_unit(halogen_type type, size_t bytes, Visit visit) {
  const auto elements = [&](auto size) {
    for (size_t at = 0; at < bytes; at += size) visit(at, size);
  };
  if (type == HALOGEN_F32) return elements(Constant<4>());
  if (type == HALOGEN_F16) return elements(Constant<2>());
  const size_t block_bytes = halogen_type_find(type)->block_bytes;
  for (size_t block = 0; block < bytes; block += block_bytes) {
    visit(block, Constant<2>());
    for (size_t at = 2; at < block_bytes; at++) visit(block + at, Constant<1>());
  }
}

}  // namespace

void write_key(const KeyRows& to, uint8_t* keys, uint32_t slot, size_t offset, size_t bytes,
               const uint8_t* from) {
  const Place place(to, slot);
  uint8_t* const units = keys + place.group + offset * place.rows;
  for_each_unit(to.type, bytes, [&](size_t at, auto size) {
    std::memcpy(units + at * place.rows + place.lane * size, from + at, size);
  });
}

void read_key(const KeyRows& from, const uint8_t* keys, uint32_t slot, uint8_t* out) {
  const Place place(from, slot);
  const uint8_t* const group = keys + place.group;
  for_each_unit(from.type, from.row_bytes, [&](size_t at, auto size) {
    std::memcpy(out + at, group + at * place.rows + place.lane * size, size);
  });
}

uint32_t regroup_keys(const KeyRows& from, const uint8_t* keys, uint32_t slot, uint32_t n,
                      uint32_t lane, uint8_t* group) {
  const Place place(from, slot);
  n = std::min(n, place.rows - place.lane);
  const uint8_t* const units = keys + place.group;
  for_each_unit(from.type, from.row_bytes, [&](size_t at, auto size) {
    const uint8_t* source = units + at * place.rows + place.lane * size;
    uint8_t* target = group + at * kKeyGroup + lane * size;
    if (n == kKeyGroup / 2) {  // blocks of eight tokens
      std::memcpy(target, source, size * (kKeyGroup / 2));
    } else {
      std::memcpy(target, source, size * n);
    }
  });
  return n;
}

}  // namespace halogen::cpu
