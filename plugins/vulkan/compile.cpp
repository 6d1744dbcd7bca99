#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "plugins/common/arena_layout.h"
#include "plugins/common/graph_view.h"
#include "plugins/common/rope_frequencies.h"
#include "plugins/vulkan/attend_operation.h"
#include "plugins/vulkan/expert_operations.h"
#include "plugins/vulkan/linear_operation.h"
#include "plugins/vulkan/plan.h"
#include "plugins/vulkan/row_operations.h"

namespace halogen::vulkan {
namespace {

// A split is long enough to be worth a workgroup, and there are never more than so many of them.
constexpr uint32_t kLeastSplit = 256, kMostSplits = 64;
// Steps of more tokens than these, or than sequences, are prefill.
constexpr uint32_t kDecodeTokens = 16;

constexpr uint32_t round_up(uint32_t n, uint32_t unit) {
  return (n + unit - 1) / unit * unit;
}

SplitSizes split_sizes(uint32_t max_context) {
  const uint32_t positions =
      std::max(kLeastSplit, round_up(groups_of(max_context, kMostSplits), 32));
  return {positions, groups_of(max_context, positions)};
}

template <typename Specialization>
PipelineKey key_of(const std::string& shader, const Specialization& specialization) {
  static_assert(sizeof specialization % sizeof(uint32_t) == 0);
  std::vector<uint32_t> words(sizeof specialization / sizeof(uint32_t));
  std::memcpy(words.data(), &specialization, sizeof specialization);
  return {shader, std::move(words)};
}

class Compiler : backends::GraphView {
 public:
  Compiler(const halogen_program_request& request, const Adapter& adapter)
      : GraphView(*request.graph),
        limits_(*request.limits),
        geometry_(*request.geometry),
        adapter_(adapter),
        columns_(request.graph->n_values) {}

  Plan compile() {
    plan_.matrices.resize(graph().n_weights);
    plan_.vectors.resize(graph().n_weights);
    plan_.splits = split_sizes(limits_.max_context);
    plan_.decode_tokens =
        std::min(limits_.max_tokens, std::max(kDecodeTokens, limits_.max_sequences));
    for (uint32_t i = 0; i < graph().n_nodes; i++) add_node(i);
    plan_.logits = output(graph().logits);
    plan_.hidden = output(graph().hidden);
    place_slots();
    return std::move(plan_);
  }

 private:
  // --- pipelines
  template <typename Specialization>
  PipelineId pipeline(const std::string& shader, const Specialization& specialization) {
    PipelineKey key = key_of(shader, specialization);
    const auto [at, added] =
        pipelines_.emplace(key, static_cast<PipelineId>(plan_.pipelines.size()));
    if (added) plan_.pipelines.push_back(std::move(key));
    return at->second;
  }
  static std::string typed(const char* shader, halogen_type type) {
    return shader + std::string("_") + halogen_type_find(type)->name;
  }

  // --- weights
  uint32_t matrix(halogen_value_id id) {
    plan_.matrices[value(id).source] = true;
    return value(id).source;
  }
  std::optional<uint32_t> vector(halogen_value_id id) {
    if (id == HALOGEN_NO_VALUE) return std::nullopt;
    plan_.vectors[value(id).source] = true;
    return value(id).source;
  }

  // --- slots
  // Rows begin on 16 bytes.
  uint32_t new_slot(Domain domain, uint32_t width) {
    plan_.slots.push_back({domain, round_up(width, 4), 0});
    tenants_.emplace_back();
    return static_cast<uint32_t>(plan_.slots.size() - 1);
  }
  // Marks a slot as touched by the operation that is being made.
  Columns touch(Columns columns) {
    const auto now = static_cast<uint32_t>(plan_.operations.size());
    backends::Tenant& tenant = tenants_[columns.slot];
    tenant.first = std::min(tenant.first, now);
    tenant.last = std::max(tenant.last, now);
    return columns;
  }
  Columns read(halogen_value_id id) { return touch(columns_[id]); }
  Columns write(halogen_value_id id) {
    columns_[id] = {new_slot(domain(value(id)), width(value(id))), 0};
    return touch(columns_[id]);
  }
  std::optional<Columns> output(halogen_value_id id) {
    if (id == HALOGEN_NO_VALUE) return std::nullopt;
    tenants_[columns_[id].slot].last = UINT32_MAX;  // read when all is done
    return columns_[id];
  }
  void place_slots() {
    for (uint32_t i = 0; i < plan_.slots.size(); i++) {
      const Slot& slot = plan_.slots[i];
      tenants_[i].bytes =
          MemoryPool::aligned(plan_.rows_of(slot, limits_) * slot.stride * sizeof(float));
    }
    plan_.arena_bytes = backends::place(tenants_);
    for (uint32_t i = 0; i < plan_.slots.size(); i++) plan_.slots[i].offset = tenants_[i].offset;
  }

  // --- nodes
  template <typename Made>
  void push(Made operation) {
    plan_.operations.push_back(std::make_unique<Made>(std::move(operation)));
  }

  void add_node(uint32_t index) {
    if (fused(index)) return;
    const halogen_node& n = node(index);
    switch (n.op) {
      case HALOGEN_OP_RESHAPE:
      case HALOGEN_OP_SPLIT:
        return add_view(n);
      case HALOGEN_OP_EMBED:
        return add_embed(n);
      case HALOGEN_OP_NORM:
        return add_norm(n);
      case HALOGEN_OP_LINEAR:
        return add_linear(index);
      case HALOGEN_OP_ROPE:
        return add_rope(n);
      case HALOGEN_OP_ATTEND:
        return add_attend(n);
      case HALOGEN_OP_GLU:
      case HALOGEN_OP_ACTIVATE:
        return add_activate(n);
      case HALOGEN_OP_SELECT_ROWS:
        return add_copy(read(n.inputs[0]), write(n.outputs[0]), width(value(n.outputs[0])), true);
      case HALOGEN_OP_CONCAT:
        return add_concat(n);
      case HALOGEN_OP_MOE_ROUTE:
        return add_route(n);
      case HALOGEN_OP_MOE_LINEAR:
        return add_experts(n);
      case HALOGEN_OP_MOE_COMBINE:
        return add_combine(n);
      default:
        return add_elementwise(n);
    }
  }

  void add_view(const halogen_node& n) {
    Columns columns = columns_[n.inputs[0]];
    if (n.op == HALOGEN_OP_SPLIT) columns.first += static_cast<uint32_t>(n.attributes.split.offset);
    columns_[n.outputs[0]] = columns;
  }

  void add_embed(const halogen_node& n) {
    const halogen_value& table = value(n.inputs[1]);
    EmbedOperation made;
    made.pipeline = pipeline(typed("embed", table.type), made.specialization);
    made.table = matrix(n.inputs[1]);
    made.columns = last_dim(table);
    made.row_bytes = static_cast<uint32_t>(halogen_row_bytes(table.type, made.columns));
    made.scale = n.attributes.embed.scale;
    made.y = write(n.outputs[0]);
    push(std::move(made));
  }

  void add_norm(const halogen_node& n) {
    const halogen_value& out = value(n.outputs[0]);
    NormOperation made;
    made.columns = last_dim(out);
    made.vectors = width(out) / made.columns;
    made.domain = domain(out);
    NormSpecialization specialization;
    specialization.kind = n.attributes.norm.kind;
    if (made.columns <= 128) specialization.local_size = 32;
    made.pipeline = pipeline("norm", specialization);
    made.weight = vector(input(n, 1));
    made.bias = vector(input(n, 2));
    made.epsilon = n.attributes.norm.epsilon;
    made.weight_offset = n.attributes.norm.weight_offset;
    made.x = read(n.inputs[0]);
    made.y = write(n.outputs[0]);
    push(std::move(made));
  }

  void add_linear(uint32_t index) {
    const halogen_node& n = node(index);
    const halogen_weight& weight = *graph().weights[value(n.inputs[1]).source];
    LinearOperation made;
    made.rows = static_cast<uint32_t>(weight.dims[0]);
    made.columns = static_cast<uint32_t>(weight.dims[1]);
    made.row_bytes = static_cast<uint32_t>(halogen_row_bytes(weight.type, made.columns));
    made.domain = domain(value(n.outputs[0]));
    made.weight = matrix(n.inputs[1]);
    made.bias = vector(input(n, 2));
    choose_products(weight.type, made);
    const Columns x = aligned_input(n.inputs[0]);
    made.x = touch(x);
    if (residual_of(index) != HALOGEN_NO_VALUE) made.residual = read(residual_of(index));
    made.y = write(product_of(index));
    push(std::move(made));
  }

  void choose_products(halogen_type type, LinearOperation& made) {
    for (size_t i = 0; i < kMatvecTokens.size(); i++) {
      MatvecSpecialization specialization;
      specialization.tokens = kMatvecTokens[i];
      specialization.rows = kMatvecTokens[i] > 8 ? 2 : 4;
      specialization.subgroup_floor = adapter_.min_subgroup_size;
      made.matvecs[i] = {0, specialization};
      // What no step of this program needs is not compiled.
      if (i == 0 || kMatvecTokens[i - 1] < most_rows(made.domain))
        made.matvecs[i].pipeline = pipeline(typed("matvec", type), specialization);
    }
    if (kMatvecTokens.back() < most_rows(made.domain))
      made.matmul = pipeline(typed("matmul", type), MatmulSpecialization{});
  }
  uint32_t most_rows(Domain d) const {
    return d == Domain::tokens ? limits_.max_tokens : limits_.max_rows;
  }

  // Products read quads: a part of a matrix that begins between them is copied first.
  Columns aligned_input(halogen_value_id id) {
    const Columns x = columns_[id];
    if (x.first % 4 == 0) return x;
    const Columns copy{new_slot(domain(value(id)), width(value(id))), 0};
    add_copy(touch(x), touch(copy), width(value(id)), false);
    return copy;
  }

  void add_rope(const halogen_node& n) {
    const halogen_value& out = value(n.outputs[0]);
    const halogen_rope_attributes& rope = n.attributes.rope;
    RopeSpecialization specialization;
    specialization.pairing = rope.pairing;
    RopeOperation made;
    made.pipeline = pipeline("rope", specialization);
    made.rotation = rotation(rope, input(n, 2));
    made.pairs = rope.dims / 2;
    made.head_dim = last_dim(out);
    made.heads = width(out) / made.head_dim;
    made.x = read(n.inputs[0]);
    made.y = write(n.outputs[0]);
    push(std::move(made));
  }

  uint32_t rotation(const halogen_rope_attributes& attributes, halogen_value_id factors) {
    auto& known = plan_.rotations;
    const auto same = std::find_if(known.begin(), known.end(), [&](const Rotation& one) {
      return one.factors == factors && backends::same_rotation(one.attributes, attributes);
    });
    const auto index = static_cast<uint32_t>(same - known.begin());
    if (same == known.end()) known.push_back({attributes, factors});
    return index;
  }

  void add_attend(const halogen_node& n) {
    const halogen_attend_attributes& attributes = n.attributes.attend;
    const halogen_kv_layer& layer = *graph().kv_layers[attributes.kv_layer];
    add_store(n.inputs[1], attributes.kv_layer, KvStoreOperation::Side::keys, geometry_.key_type);
    add_store(n.inputs[2], attributes.kv_layer, KvStoreOperation::Side::values,
              geometry_.value_type);
    const auto heads = static_cast<uint32_t>(value(n.inputs[0]).dims[1]);
    AttendOperation made;
    made.attributes = attributes;
    made.kv_heads = layer.kv_heads;
    made.group = heads / layer.kv_heads;
    made.sinks = vector(input(n, 3));
    choose_attention(layer, made);
    made.q = read(n.inputs[0]);
    made.y = write(n.outputs[0]);
    push(std::move(made));
    plan_.partial_floats = std::max(
        plan_.partial_floats,
        attend_partial_floats(plan_.decode_tokens, heads, plan_.splits.most, layer.value_dim));
  }

  void add_store(halogen_value_id x, uint32_t layer, KvStoreOperation::Side side,
                 halogen_type type) {
    KvStoreOperation made;
    made.specialization.type = type;
    made.pipeline = pipeline("kv_store", made.specialization);
    made.side = side;
    made.kv_layer = layer;
    made.heads = static_cast<uint32_t>(value(x).dims[1]);
    made.head_dim = last_dim(value(x));
    made.x = read(x);
    push(std::move(made));
  }

  void choose_attention(const halogen_kv_layer& layer, AttendOperation& made) {
    // A thread holds four columns of V.
    const uint32_t local_size = std::max(128U, round_up(groups_of(layer.value_dim, 4), 32));
    const auto common = [&](auto& specialization) {
      specialization.local_size = local_size;
      specialization.key_type = geometry_.key_type;
      specialization.value_type = geometry_.value_type;
      specialization.key_dim = layer.key_dim;
      specialization.value_dim = layer.value_dim;
      specialization.block_tokens = geometry_.block_tokens;
    };
    AttendDecodeSpecialization& decode = made.decode_specialization;
    common(decode);
    decode.heads = std::min(made.group, 4U);
    decode.subgroup_floor = adapter_.min_subgroup_size;
    AttendPrefillSpecialization& prefill = made.prefill_specialization;
    common(prefill);
    prefill.heads = std::bit_floor(std::min(made.group, 4U));
    while (attend_prefill_shared_bytes(prefill) > adapter_.shared_memory_bytes &&
           prefill.query_rows > prefill.heads) {
      prefill.query_rows /= 2;
    }
    // Layers of other shapes share the tiles: the smallest fit all of them.
    const uint32_t tokens = attend_tile_tokens(prefill);
    plan_.tile_tokens = plan_.tile_tokens == 0 ? tokens : std::min(plan_.tile_tokens, tokens);
    made.decode = pipeline("attend_decode", decode);
    made.merge = pipeline("attend_merge", AttendMergeSpecialization{64, layer.value_dim});
    if (limits_.max_tokens > 1) made.prefill = pipeline("attend_prefill", prefill);
  }

  void add_route(const halogen_node& n) {
    RouteOperation made;
    made.pipeline = pipeline("expert_route", RouteSpecialization{});
    made.attributes = n.attributes.route;
    made.correction = vector(input(n, 1));
    made.logits = read(n.inputs[0]);
    made.ids = write(n.outputs[0]);
    made.weights = write(n.outputs[1]);
    push(std::move(made));
  }

  void add_experts(const halogen_node& n) {
    const halogen_weight& weight = *graph().weights[value(n.inputs[1]).source];
    ExpertLinearOperation made;
    made.experts = static_cast<uint32_t>(weight.dims[0]);
    made.rows = static_cast<uint32_t>(weight.dims[1]);
    made.columns = static_cast<uint32_t>(weight.dims[2]);
    made.row_bytes = static_cast<uint32_t>(halogen_row_bytes(weight.type, made.columns));
    made.used = width(value(n.inputs[2]));
    made.own_inputs = value(n.inputs[0]).n_dims == 3;
    made.weight = matrix(n.inputs[1]);
    made.bias = vector(input(n, 3));
    made.specialization.subgroup_floor = adapter_.min_subgroup_size;
    made.matvec = pipeline(typed("expert_matvec", weight.type), made.specialization);
    if (limits_.max_tokens > kExpertMatvecTokens) {
      made.matmul = pipeline(typed("expert_matmul", weight.type), MatmulSpecialization{});
      group_choices(n.inputs[2], made.experts, made.used);
    }
    const Columns x = aligned_input(n.inputs[0]);
    made.x = touch(x);
    made.ids = read(n.inputs[2]);
    made.y = write(n.outputs[0]);
    push(std::move(made));
  }

  // Products of the same choices share their order.
  void group_choices(halogen_value_id ids, uint32_t experts, uint32_t used) {
    if (grouped_ == ids) return;
    grouped_ = ids;
    plan_.tile_bytes =
        std::max(plan_.tile_bytes, expert_tiles_bytes(experts, limits_.max_tokens * used));
    GroupOperation made;
    made.pipeline = pipeline("expert_group", GroupSpecialization{});
    made.experts = experts;
    made.used = used;
    made.ids = read(ids);
    push(std::move(made));
  }

  void add_combine(const halogen_node& n) {
    CombineOperation made;
    made.pipeline = pipeline("expert_combine", made.specialization);
    made.used = width(value(n.inputs[1]));
    made.columns = width(value(n.outputs[0]));
    made.x = read(n.inputs[0]);
    made.weights = read(n.inputs[1]);
    made.y = write(n.outputs[0]);
    push(std::move(made));
  }

  void add_activate(const halogen_node& n) {
    ActivateOperation made;
    made.specialization.activation = n.attributes.glu.activation;
    made.pipeline = pipeline("activate", made.specialization);
    made.domain = domain(value(n.outputs[0]));
    made.columns = width(value(n.outputs[0]));
    made.alpha = n.attributes.glu.alpha;
    made.limit = n.attributes.glu.limit;
    made.gate = read(n.inputs[0]);
    if (n.op == HALOGEN_OP_GLU) made.up = read(n.inputs[1]);
    made.y = write(n.outputs[0]);
    push(std::move(made));
  }

  void add_copy(Columns x, Columns y, uint32_t columns, bool select) {
    CopyOperation made;
    made.pipeline = pipeline("copy_rows", made.specialization);
    made.domain = plan_.slots[y.slot].domain;
    made.select = select;
    made.columns = columns;
    made.x = x;
    made.y = y;
    push(std::move(made));
  }

  // Concat joins the last dimension.
  void add_concat(const halogen_node& n) {
    const uint32_t first = width(value(n.inputs[0])), second = width(value(n.inputs[1]));
    const Columns a = read(n.inputs[0]), out = write(n.outputs[0]);
    add_copy(a, out, first, false);
    add_copy(read(n.inputs[1]), touch({out.slot, out.first + first}), second, false);
  }

  void add_elementwise(const halogen_node& n) {
    ElementwiseOperation made;
    made.domain = domain(value(n.outputs[0]));
    made.columns = width(value(n.outputs[0]));
    made.a = read(n.inputs[0]);
    switch (n.op) {
      case HALOGEN_OP_SCALE:
        made.specialization.operation = Elementwise::kScale;
        made.factor = n.attributes.scale.factor;
        break;
      case HALOGEN_OP_SOFTCAP:
        made.specialization.operation = Elementwise::kSoftcap;
        made.factor = n.attributes.softcap.cap;
        break;
      default:
        made.specialization.operation =
            n.op == HALOGEN_OP_ADD ? Elementwise::kAdd : Elementwise::kMultiply;
        take_second(n.inputs[1], made);
    }
    made.pipeline = pipeline("elementwise", made.specialization);
    made.y = write(n.outputs[0]);
    push(std::move(made));
  }

  void take_second(halogen_value_id id, ElementwiseOperation& made) {
    if (value(id).kind == HALOGEN_VALUE_WEIGHT) {
      made.b_vector = vector(id);
      made.b_columns = static_cast<uint32_t>(elements(value(id)));
    } else {
      made.b = read(id);
      made.b_columns = width(value(id));
    }
  }

  const halogen_limits& limits_;
  const halogen_kv_geometry& geometry_;
  const Adapter& adapter_;
  Plan plan_;
  std::vector<Columns> columns_;           // [values]
  std::vector<backends::Tenant> tenants_;  // [slots]
  std::map<PipelineKey, PipelineId> pipelines_;
  halogen_value_id grouped_ = HALOGEN_NO_VALUE;  // the choices that were sorted last
};

}  // namespace

Plan compile_plan(const halogen_program_request& request, const Adapter& adapter) {
  return Compiler(request, adapter).compile();
}

}  // namespace halogen::vulkan
