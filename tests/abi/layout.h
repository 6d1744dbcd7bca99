// layout.inc as data: what the ABI promises, beside what the headers have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "halogen/backend.h"
#include "halogen/draft/collective.h"
#include "halogen/loader.h"
#include "halogen/plugin.h"
#include "halogen/sampler.h"
#include "halogen/scheduler.h"

namespace halogen::test {

enum class RowKind { structure, member, since, value };

struct LayoutRow {
  RowKind kind;
  std::string_view structure;  // or the constant
  std::string_view member;
  int64_t offset, size;  // promised; of a since row the minor and the old size
  int64_t real_offset, real_size, alignment;
};

// The address decides nothing: only its type is looked at.
template <typename Struct>
Struct* any_struct();

#define STRUCT(type, bytes) \
  {RowKind::structure, #type, "", 0, bytes, 0, sizeof(type), alignof(type)},
#define MEMBER(type, at, bytes, name) \
  {RowKind::member,                   \
   #type,                             \
   #name,                             \
   at,                                \
   bytes,                             \
   offsetof(type, name),              \
   sizeof(any_struct<type>()->name),  \
   alignof(decltype(any_struct<type>()->name))},
#define SINCE(type, minor, bytes) {RowKind::since, #type, "", minor, bytes, minor, bytes, 1},
#define VALUE(constant, number) {RowKind::value, #constant, "", 0, number, 0, constant, 1},
constexpr LayoutRow kLayout[] = {
#include "layout.inc"
};
#undef STRUCT
#undef MEMBER
#undef SINCE
#undef VALUE

// The size of a struct in ABI 1.0.
constexpr uint32_t first_size(std::string_view structure) {
  int64_t size = 0;
  for (const LayoutRow& row : kLayout) {
    if (row.structure != structure) continue;
    if (row.kind == RowKind::structure) size = row.size;
    if (row.kind == RowKind::since) return static_cast<uint32_t>(row.size);
  }
  return static_cast<uint32_t>(size);
}

}  // namespace halogen::test
