// How the host drives the shaders: for each one its specialization constants and how many
// workgroups it takes. What a dispatch is told besides stands in shaders/push_constants.glsl.
//
// - A shader's push constants are one struct at offset 0, at most 128 bytes. There are no
//   descriptors.
// - Specialization constant i is member i of the shader's ...Specialization, all of them 32 bits
//   wide; member 0 is always the workgroup's size in x. Any size that is a multiple of 32 is right
//   unless the struct says more.
// - A Groups is what vkCmdDispatch takes. Where it depends on the step's counts, either record the
//   largest count of the bucket (workgroups past the step's count end at once) or write the Groups
//   of the step into the buffer of vkCmdDispatchIndirect before the submit.
// - Dispatches on the same data need a barrier between them; a shader never waits for another.
//
// Device features: bufferDeviceAddress, shaderInt64, storageBuffer16BitAccess,
// storageBuffer8BitAccess, shaderInt16, shaderInt8 and shaderFloat16 are not needed unless a
// shader's comment says so; subgroup basic and arithmetic operations in compute.
#pragma once

#include <algorithm>
#include <cstdint>

#include "halogen/graph.h"
#include "halogen/types.h"

namespace halogen::vulkan {

using uint = uint32_t;
#include "plugins/vulkan/shaders/push_constants.glsl"

struct Groups {
  uint32_t x, y, z;
};

// No dispatch exceeds this in any dimension: what every Vulkan device can do.
inline constexpr uint32_t kMaxGroups = 65535;

constexpr uint32_t groups_of(uint32_t items, uint32_t size) {
  return (items + size - 1) / size;
}

// --- rows ------------------------------------------------------------------------------------
// These take any workgroup size; y is the row, so that `rows` is the count of the step or bucket.

// embed_F32, embed_F16, embed_Q4_0, ...: the weight type's name as in halogen_type_traits.
struct EmbedSpecialization {
  uint32_t local_size = 64;
};
constexpr Groups embed_groups(const EmbedSpecialization& s, uint32_t columns, uint32_t rows) {
  return {groups_of(groups_of(columns, 8), s.local_size), rows, 1};
}

// norm
struct NormSpecialization {
  uint32_t local_size = 256;  // 32 or 64 for the vectors of heads
  uint32_t kind = HALOGEN_NORM_RMS;
};
constexpr Groups norm_groups(uint32_t vectors, uint32_t rows) {
  return {vectors, rows, 1};
}

// rope
inline constexpr uint32_t kAngleRows = 256;
struct RopeSpecialization {
  uint32_t local_size = 64;
  uint32_t pairing = HALOGEN_ROPE_HALVES;
};
constexpr Groups rope_groups(uint32_t heads, uint32_t rows) {
  return {heads, rows, 1};
}

// activate
struct ActivateSpecialization {
  uint32_t local_size = 256;
  uint32_t activation = HALOGEN_SILU;
};
constexpr Groups activate_groups(const ActivateSpecialization& s, uint32_t columns, uint32_t rows) {
  return {groups_of(columns, s.local_size), rows, 1};
}

// activate_q8
constexpr Groups activate_q8_groups(const ActivateSpecialization& s, uint32_t columns,
                                    uint32_t rows) {
  return {groups_of(columns / 16, s.local_size), rows, 1};
}

// elementwise
enum class Elementwise : uint32_t { kAdd = 0, kMultiply = 1, kScale = 2, kSoftcap = 3 };
struct ElementwiseSpecialization {
  uint32_t local_size = 256;
  Elementwise operation = Elementwise::kAdd;
};
constexpr Groups elementwise_groups(const ElementwiseSpecialization& s, uint32_t columns,
                                    uint32_t rows) {
  return {groups_of(columns, s.local_size), rows, 1};
}

// copy_rows: select_rows, and the parts of a concat or a split that cannot stay views.
struct CopySpecialization {
  uint32_t local_size = 256;
};
constexpr Groups copy_groups(const CopySpecialization& s, uint32_t columns, uint32_t runs,
                             uint32_t rows) {
  return {groups_of(columns, s.local_size), rows, runs};
}

// --- products --------------------------------------------------------------------------------

// matvec_<type>: reads each weight once for `tokens` tokens. A workgroup computes `rows` rows of
// the product; with more tokens than `tokens` the weights are read again for the next ones.
struct MatvecSpecialization {
  uint32_t local_size = 64;
  uint32_t tokens = 1;          // 1 to 16
  uint32_t rows = 4;            // 1 to 8; tokens * rows accumulators in each thread
  uint32_t subgroup_floor = 1;  // the device's minSubgroupSize: saves shared memory
};
constexpr Groups matvec_groups(const MatvecSpecialization& s, uint32_t rows, uint32_t tokens) {
  return {std::min(groups_of(rows, s.rows), kMaxGroups), groups_of(tokens, s.tokens), 1};
}

// quantise_q8, then matvec_q8_<type> in place of matvec_<type>, for quantised types: four products
// at a time in integers, with the inputs rounded to 8 bits. Needs the feature
// shaderIntegerDotProduct (Vulkan 1.3, or VK_KHR_shader_integer_dot_product); worth it where that
// is accelerated.
struct QuantiseSpecialization {
  uint32_t local_size = 64;
};
constexpr Groups quantise_groups(const QuantiseSpecialization& s, uint32_t columns, uint32_t rows) {
  return {groups_of(columns / 16, s.local_size), rows, 1};
}
constexpr uint32_t q8_row_words(uint32_t columns) {
  return columns / 32 * 12;
}

// matmul_<type>: tiles of 64 weight rows by 64 tokens.
inline constexpr uint32_t kMatmulTile = 64;
struct MatmulSpecialization {
  uint32_t local_size = 256;  // no other
};
constexpr Groups matmul_groups(uint32_t rows, uint32_t tokens) {
  return {groups_of(rows, kMatmulTile), groups_of(tokens, kMatmulTile), 1};
}

// matmul_cooperative_<type>, with the inputs rounded to halves. Needs cooperative matrices of 16 x
// 16 halves with F32 sums in a subgroup (VK_KHR_cooperative_matrix, which
// vkGetPhysicalDeviceCooperative- MatrixPropertiesKHR lists), shaderFloat16 and vulkanMemoryModel;
// and exactly four full subgroups: set the required subgroup size and
// VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT.
inline constexpr uint32_t kCooperativeTokens = 128;
struct MatmulCooperativeSpecialization {
  uint32_t local_size = 4 * 32;  // 4 * the subgroup size
};
constexpr Groups matmul_cooperative_groups(uint32_t rows, uint32_t tokens) {
  return {groups_of(rows, kMatmulTile), groups_of(tokens, kCooperativeTokens), 1};
}

// --- mixture of experts ----------------------------------------------------------------------
// expert_route, then a product for each choice: expert_matvec for a few tokens, or expert_group and
// expert_matmul for many; expert_combine in the end.

// expert_route
struct RouteSpecialization {
  uint32_t local_size = 64;
};
constexpr Groups route_groups(uint32_t tokens) {
  return {1, tokens, 1};
}

// expert_matvec_<type>, or expert_matvec_q8_<type> after quantise_q8: reads an expert's weights
// again for every token that chose it.
struct ExpertMatvecSpecialization {
  uint32_t local_size = 64;
  uint32_t rows = 4;  // 1 to 8
  uint32_t subgroup_floor = 1;
};
constexpr Groups expert_matvec_groups(const ExpertMatvecSpecialization& s, uint32_t rows,
                                      uint32_t used, uint32_t tokens) {
  return {std::min(groups_of(rows, s.rows), kMaxGroups), tokens, used};
}

// expert_group
struct GroupSpecialization {
  uint32_t local_size = 256;
};
inline constexpr Groups kGroupGroups{1, 1, 1};
constexpr uint32_t max_expert_tiles(uint32_t experts, uint32_t choices) {
  return choices / kMatmulTile + std::min(experts, choices);
}
constexpr uint64_t expert_tiles_bytes(uint32_t experts, uint32_t choices) {
  return sizeof(ExpertTiles) + sizeof(ExpertTile) * max_expert_tiles(experts, choices) +
         sizeof(uint32_t) * choices;
}

// expert_matmul_<type> with MatmulSpecialization, or expert_matmul_cooperative_<type> with
// MatmulCooperativeSpecialization and what that asks for.
constexpr Groups expert_matmul_groups(uint32_t rows, uint32_t experts, uint32_t choices) {
  return {groups_of(rows, kMatmulTile), max_expert_tiles(experts, choices), 1};
}

// expert_combine
struct CombineSpecialization {
  uint32_t local_size = 256;
};
constexpr Groups combine_groups(const CombineSpecialization& s, uint32_t columns, uint32_t tokens) {
  return {groups_of(columns, s.local_size), tokens, 1};
}

// --- attention -------------------------------------------------------------------------------

// kv_store: once for K and once for V.
struct KvStoreSpecialization {
  uint32_t local_size = 64;
  uint32_t type = HALOGEN_F16;  // or F32, Q8_0, Q4_0; the last two in whole blocks of head_dim
};
constexpr Groups kv_store_groups(const KvStoreSpecialization& s, uint32_t heads, uint32_t head_dim,
                                 uint32_t tokens) {
  // A thread stores four elements, or a block.
  const bool blocks = s.type == HALOGEN_Q8_0 || s.type == HALOGEN_Q4_0;
  return {groups_of(heads * groups_of(head_dim, blocks ? 32 : 4), s.local_size), tokens, 1};
}

// prepare_heads
struct PrepareSpecialization {
  uint32_t local_size = 64;
  uint32_t pairing = HALOGEN_ROPE_HALVES;
  uint32_t key_type = HALOGEN_F16, value_type = HALOGEN_F16;
  uint32_t key_dim = 128, value_dim = 128;
  uint32_t block_tokens = 16;
};
constexpr Groups prepare_groups(uint32_t heads, uint32_t kv_heads, uint32_t tokens) {
  return {heads + 2 * kv_heads, tokens, 1};
}

// attend_decode: one token, some query heads of one K/V head and one split of the positions in each
// workgroup. Its partial results go to `partials`; attend_merge follows, always.
struct AttendDecodeSpecialization {
  uint32_t local_size = 128;  // at least value_dim / 4; the positions that it takes at a time
  uint32_t key_type = HALOGEN_F16, value_type = HALOGEN_F16;
  uint32_t key_dim = 128, value_dim = 128;
  uint32_t block_tokens = 16;
  uint32_t heads = 4;  // query heads at a time: 1 to 8, and no more than the group
  uint32_t subgroup_floor = 1;
};
constexpr Groups attend_decode_groups(const AttendDecodeSpecialization& s, uint32_t kv_heads,
                                      uint32_t group, uint32_t tokens, uint32_t splits) {
  return {kv_heads * groups_of(group, s.heads), tokens, splits};
}
// Splits are counted from position 0, so that a token's result does not depend on its company. With
// StepTables.split_positions s, a step needs the largest groups_of(context_length, s) of its
// sequences; never more than max_splits.
constexpr uint64_t attend_partial_floats(uint32_t tokens, uint32_t heads, uint32_t max_splits,
                                         uint32_t value_dim) {
  return uint64_t{tokens} * heads * max_splits * (value_dim + 2);
}

// attend_merge
struct AttendMergeSpecialization {
  uint32_t local_size = 64;
  uint32_t value_dim = 128;
};
constexpr Groups attend_merge_groups(uint32_t heads, uint32_t tokens) {
  return {heads, tokens, 1};
}

// attend_prefill: one QueryTile, some query heads of one K/V head and all their positions in each
// workgroup; writes the output itself.
struct AttendPrefillSpecialization {
  uint32_t local_size = 128;
  uint32_t key_type = HALOGEN_F16, value_type = HALOGEN_F16;
  uint32_t key_dim = 128, value_dim = 128;
  uint32_t block_tokens = 16;
  uint32_t heads = 4;        // query heads at a time; divides query_rows, no more than the group
  uint32_t query_rows = 32;  // heads times the tokens of a tile
  uint32_t tile_positions = 16;  // divides local_size
};
constexpr uint32_t attend_tile_tokens(const AttendPrefillSpecialization& s) {
  return s.query_rows / s.heads;
}
constexpr Groups attend_prefill_groups(const AttendPrefillSpecialization& s, uint32_t kv_heads,
                                       uint32_t group, uint32_t tiles) {
  return {kv_heads * groups_of(group, s.heads), tiles, 1};
}
// Must not exceed the device's maxComputeSharedMemorySize: fewer rows or positions otherwise.
constexpr uint32_t attend_prefill_shared_bytes(const AttendPrefillSpecialization& s) {
  const uint32_t dim = groups_of(std::max(s.key_dim, s.value_dim), 4) * 4;
  const uint32_t q = s.query_rows * groups_of(s.key_dim, 4) * 4;
  return 4 * (q + s.tile_positions * (dim + 4) + s.query_rows * (s.tile_positions + 5));
}

static_assert(sizeof(StepTables) == 72 && sizeof(QueryTile) == 12);
static_assert(sizeof(EmbedConstants) <= 128 && sizeof(NormConstants) <= 128 &&
              sizeof(RopeConstants) <= 128 && sizeof(ActivateConstants) <= 128 &&
              sizeof(ElementwiseConstants) <= 128 && sizeof(CopyConstants) <= 128 &&
              sizeof(LinearConstants) <= 128 && sizeof(KvStoreConstants) <= 128 &&
              sizeof(PrepareConstants) <= 128 && sizeof(QuantiseConstants) <= 128 &&
              sizeof(RouteConstants) <= 128 && sizeof(ExpertLinearConstants) <= 128 &&
              sizeof(GroupConstants) <= 128 && sizeof(CombineConstants) <= 128 &&
              sizeof(AttendConstants) <= 128);

}  // namespace halogen::vulkan
