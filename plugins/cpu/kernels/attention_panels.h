// K and V as the products of attention read them: kPanel = 2 * kLanes columns of F32 at a time,
// from the pool or from a panel that was converted before.
//
// A source gives part(i), from which load(j, ..) gives row i + j of the matrix, for j < kPart: what
// several rows have in common is found once.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plugins/cpu/kernels/block_layouts.h"
#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/kernels/key_groups.h"

namespace halogen::cpu {
namespace {

#define HALOGEN_INLINE __attribute__((always_inline))

inline constexpr size_t kNoPart = SIZE_MAX;

// --- the stored types
// load_row: elements d and up of a row, which has them all; kBytes of an element, 0 for blocks.
// Keys: elements d and up of kLanes positions of a group, kPart of them at the most.
// kGroupBytes: of a group, for each element

template <class Vector>
struct F32Stored {
  using F = typename Vector::F;
  static constexpr size_t kBytes = 4, kGroupBytes = kKeyGroup * 4, kPart = kNoPart;

  static F load(const uint8_t* row, size_t d) {
    return Vector::load(reinterpret_cast<const float*>(row) + d);
  }
  static HALOGEN_INLINE void load_row(const uint8_t* row, size_t d, F& left, F& right) {
    left = load(row, d);
    right = load(row, d + Vector::kLanes);
  }
  struct Keys {
    const float* at;
    Keys(const uint8_t* group, uint32_t lane, size_t d)
        : at(reinterpret_cast<const float*>(group) + d * kKeyGroup + lane) {}
    HALOGEN_INLINE F load(size_t j) const { return Vector::load(at + j * kKeyGroup); }
  };
};

template <class Vector>
struct F16Stored {
  using F = typename Vector::F;
  static constexpr size_t kBytes = 2, kGroupBytes = kKeyGroup * 2, kPart = kNoPart;

  static F load(const uint8_t* row, size_t d) { return Vector::load_f16(row + 2 * d); }
  static HALOGEN_INLINE void load_row(const uint8_t* row, size_t d, F& left, F& right) {
    left = load(row, d);
    right = load(row, d + Vector::kLanes);
  }
  struct Keys {
    const uint8_t* at;
    Keys(const uint8_t* group, uint32_t lane, size_t d) : at(group + 2 * (d * kKeyGroup + lane)) {}
    HALOGEN_INLINE F load(size_t j) const { return Vector::load_f16(at + j * kGroupBytes); }
  };
};

template <class Vector>
struct Q8Stored {
  using F = typename Vector::F;
  static constexpr size_t kBytes = 0;
  static constexpr size_t kGroupBytes = kKeyGroup * sizeof(BlockQ8_0) / kBlock, kPart = kBlock;

  static HALOGEN_INLINE void load_row(const uint8_t* row, size_t d, F& left, F& right) {
    const auto& block = reinterpret_cast<const BlockQ8_0*>(row)[d / kBlock];
    const int8_t* codes = block.q + d % kBlock;
    const F scale = Vector::broadcast_f16(block.scale);
    left = Vector::multiply(scale, Vector::load_i8(codes));
    right = Vector::multiply(scale, Vector::load_i8(codes + Vector::kLanes));
  }
  struct Keys {
    F scales;
    const int8_t* codes;
    Keys(const uint8_t* group, uint32_t lane, size_t d) {
      group += d / kBlock * kKeyGroup * sizeof(BlockQ8_0);
      scales = Vector::load_f16(group + 2 * lane);
      codes = reinterpret_cast<const int8_t*>(group) + (2 + d % kBlock) * kKeyGroup + lane;
    }
    HALOGEN_INLINE F load(size_t j) const {
      return Vector::multiply(scales, Vector::load_i8(codes + j * kKeyGroup));
    }
  };
};

template <class Vector>
struct Q4Stored {
  using F = typename Vector::F;
  static constexpr size_t kBytes = 0;
  static constexpr size_t kGroupBytes = kKeyGroup * sizeof(BlockQ4_0) / kBlock, kPart = kBlock / 2;

  static HALOGEN_INLINE void load_row(const uint8_t* row, size_t d, F& left, F& right) {
    const auto& block = reinterpret_cast<const BlockQ4_0*>(row)[d / kBlock];
    const F scale = Vector::broadcast_f16(block.scale);
    const auto codes = [&](size_t at) {
      return Vector::load_nibbles(block.nibbles + at % kPart, at >= kPart);
    };
    left = Vector::multiply(scale, codes(d % kBlock));
    right = Vector::multiply(scale, codes(d % kBlock + Vector::kLanes));
  }
  struct Keys {
    F scales;
    const uint8_t* nibbles;
    bool high;
    Keys(const uint8_t* group, uint32_t lane, size_t d) : high(d % kBlock >= kPart) {
      group += d / kBlock * kKeyGroup * sizeof(BlockQ4_0);
      scales = Vector::load_f16(group + 2 * lane);
      nibbles = group + (2 + d % kPart) * kKeyGroup + lane;
    }
    HALOGEN_INLINE F load(size_t j) const {
      return Vector::multiply(scales, Vector::load_nibbles(nibbles + j * kKeyGroup, high));
    }
  };
};

// The first n < kLanes elements, zeros after them.
template <class Vector, class Stored>
inline typename Vector::F load_some(const uint8_t* row, size_t d, size_t n) {
  alignas(64) uint8_t padded[Vector::kLanes * 4] = {};
  std::memcpy(padded, row + d * Stored::kBytes, n * Stored::kBytes);
  return Stored::load(padded, 0);
}

// --- sources

inline constexpr size_t kCacheLine = 64;

// Asks the second cache for what is needed soon: the first one cannot take so much at once.
inline void fetch(const uint8_t* from) {
  __builtin_prefetch(from, 0, 2);
}

// A converted panel.
template <class Vector>
struct PackedPanel {
  using F = typename Vector::F;
  static constexpr size_t kPart = kNoPart;
  const float* rows;

  HALOGEN_INLINE PackedPanel part(size_t i) const { return {rows + i * 2 * Vector::kLanes}; }
  HALOGEN_INLINE void load(size_t j, F& left, F& right) const {
    left = Vector::load(rows + j * 2 * Vector::kLanes);
    right = Vector::load(rows + j * 2 * Vector::kLanes + Vector::kLanes);
  }
};

// K of kPanel positions, an element of all of them in each row; asks for other K meanwhile.
template <class Vector, class Stored>
struct KeyPanel {
  using F = typename Vector::F;
  static constexpr size_t kPart = Stored::kPart;
  static constexpr uint32_t kGroups = (2 * Vector::kLanes + kKeyGroup - 1) / kKeyGroup;
  const uint8_t* groups[kGroups];
  const uint8_t* next[kGroups];
  uint32_t lane;  // of the first position in its group

  struct Part {
    typename Stored::Keys left, right;
    const uint8_t* next[kGroups];

    HALOGEN_INLINE void load(size_t j, F& to_left, F& to_right) const {
      for (uint32_t g = 0; g < kGroups; g++) fetch(next[g] + j * Stored::kGroupBytes);
      to_left = left.load(j);
      to_right = right.load(j);
    }
  };
  HALOGEN_INLINE Part part(size_t d) const {
    Part part = {
        {groups[0], lane, d}, {groups[kGroups - 1], (lane + Vector::kLanes) % kKeyGroup, d}, {}};
    for (uint32_t g = 0; g < kGroups; g++) part.next[g] = next[g] + d * Stored::kGroupBytes;
    return part;
  }
};

// Elements d to d + kPanel of V, a position in each row; asks for the same of other V meanwhile.
template <class Vector, class Stored>
struct ValuePanel {
  using F = typename Vector::F;
  static constexpr size_t kPart = kNoPart;
  const uint8_t* const* rows;
  const uint8_t* const* next;
  size_t d;
  size_t offset;  // of what is asked for

  HALOGEN_INLINE ValuePanel part(size_t i) const { return {rows + i, next + i, d, offset}; }
  HALOGEN_INLINE void load(size_t j, F& left, F& right) const {
    fetch(next[j] + offset);
    Stored::load_row(rows[j], d, left, right);
  }
};

// --- where positions lie

// The part of a call's stretch that any of its tokens attends to.
struct Stretch {
  uint32_t from, to;
  uint32_t origin;  // position of column 0 of the scores

  explicit Stretch(const AttendCall& call) : from(call.end), to(call.begin), origin(0) {
    for (uint32_t t = 0; t < call.n_tokens; t++) {
      from = call.first[t] < from ? call.first[t] : from;
      to = call.last[t] >= to ? call.last[t] + 1 : to;
    }
    from = from < call.begin ? call.begin : from;
    to = to > call.end ? call.end : to;
    origin = from / kAttendAlignment * kAttendAlignment;
  }
  bool empty() const { return from >= to; }
};

// K of the call's head in the block of a position.
inline const uint8_t* keys_of_block(const AttendCall& call, uint32_t position) {
  const KvGeometry& kv = *call.kv;
  return kv.keys + call.block_table[position / kv.block_tokens] * kv.key_block_bytes +
         size_t{call.kv_head} * kv.block_tokens * kv.key_row_bytes;
}

// Whole groups of K. Blocks that do not consist of such are brought into them first.
class GroupWalk {
 public:
  GroupWalk(const AttendCall& call, const Stretch& stretch)
      : call_(call),
        stretch_(stretch),
        rows_{call.kv->key_type, call.kv->key_row_bytes, call.kv->block_tokens} {}

  bool in_place() const { return rows_.block_tokens % kKeyGroup == 0; }

  // The group that begins at `position`, which is in the stretch at least in part. It stays until
  // the next one with the same `turn`; positions outside the stretch are anything.
  const uint8_t* at(uint32_t position, uint32_t turn) const {
    if (in_place()) {
      const uint32_t slot = position % rows_.block_tokens;
      return keys_of_block(call_, position) + slot * rows_.row_bytes;
    }
    const size_t group_bytes = kKeyGroup * rows_.row_bytes;
    uint8_t* group = reinterpret_cast<uint8_t*>(call_.groups) + turn * group_bytes;
    std::memset(group, 0, group_bytes);
    const uint32_t end = position + kKeyGroup < stretch_.to ? position + kKeyGroup : stretch_.to;
    uint32_t next = position < stretch_.from ? stretch_.from : position;
    while (next < end)
      next += regroup_keys(rows_, keys_of_block(call_, next), next % rows_.block_tokens, end - next,
                           next - position, group);
    return group;
  }

 private:
  const AttendCall& call_;
  const Stretch& stretch_;
  KeyRows rows_;
};

// The rows of V of consecutive positions, block after block.
class RowWalk {
 public:
  RowWalk(const AttendCall& call, uint32_t position)
      : kv_(*call.kv),
        slot_(position % kv_.block_tokens),
        head_(kv_.values + size_t{call.kv_head} * kv_.block_tokens * kv_.value_row_bytes),
        block_(call.block_table + position / kv_.block_tokens) {}

  void next(uint32_t n, const uint8_t** rows) {
    while (n > 0) {
      const uint32_t left = kv_.block_tokens - slot_, run = n < left ? n : left;
      const uint8_t* row = head_ + *block_ * kv_.value_block_bytes + slot_ * kv_.value_row_bytes;
      for (uint32_t i = 0; i < run; i++) rows[i] = row + i * kv_.value_row_bytes;
      rows += run;
      n -= run;
      slot_ += run;
      if (slot_ < kv_.block_tokens) continue;
      slot_ = 0;
      block_++;
    }
  }

 private:
  const KvGeometry& kv_;
  uint32_t slot_;
  const uint8_t* head_;
  const uint32_t* block_;
};

}  // namespace
}  // namespace halogen::cpu
