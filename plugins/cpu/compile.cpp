#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <string>

#include "halogen/cxx/plugin.hpp"

#include "plugins/common/arena_layout.h"
#include "plugins/common/check_request.h"
#include "plugins/common/graph_view.h"
#include "plugins/common/rope_frequencies.h"
#include "plugins/cpu/attend_operation.h"
#include "plugins/cpu/plan.h"
#include "plugins/cpu/row_stages.h"
#include "plugins/cpu/shared_operations.h"
#include "plugins/cpu/weight_copies.h"

namespace halogen::cpu {
namespace {

constexpr uint64_t kAlignment = 64;  // bytes; of rows and slots

uint64_t aligned(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class Compiler : backends::GraphView {
 public:
  Compiler(const halogen_graph& graph, const halogen_weight_data* weights,
           const WeightCopies& copies, const halogen_limits& limits, const Settings& settings,
           Plan& plan)
      : GraphView(graph),
        weights_(weights),
        copies_(copies),
        limits_(limits),
        settings_(settings),
        plan_(plan),
        columns_(graph.n_values) {}

  void compile() {
    for (uint32_t i = 0; i < graph().n_nodes; i++) add_node(i);
    emit_outputs();
    place_slots();
  }

 private:
  // --- weights
  // -------------------------------------------------------------------------------------
  // A vector's elements as F32, in a copy that the plan owns.
  const float* vector(halogen_value_id id, float offset = 0.0F) {
    if (id == HALOGEN_NO_VALUE || !weights_) return nullptr;
    const halogen_type type = value(id).type;
    std::vector<float> copy(elements(value(id)));
    settings_.kernels->dequantise(type, weights_[value(id).source].data, copy.size(), copy.data());
    for (float& element : copy) element += offset;
    plan_.vectors.push_back(std::move(copy));
    return plan_.vectors.back().data();
  }

  // --- slots
  // ---------------------------------------------------------------------------------------
  uint32_t new_slot(Domain domain, uint64_t row_bytes) {
    Slot slot;
    slot.domain = domain;
    slot.stride_bytes = aligned(row_bytes);
    plan_.slots.push_back(slot);
    tenants_.emplace_back();
    return static_cast<uint32_t>(plan_.slots.size() - 1);
  }

  uint32_t operation_count() const { return static_cast<uint32_t>(plan_.operations.size()); }

  // Marks a slot as touched by the newest operation.
  void touch(uint32_t slot) {
    backends::Tenant& tenant = tenants_[slot];
    tenant.first = std::min(tenant.first, operation_count() - 1);
    tenant.last = std::max(tenant.last, operation_count() - 1);
  }
  Columns read(Columns columns) {
    touch(columns.slot);
    return columns;
  }
  Columns read(halogen_value_id id) { return read(columns_[id]); }

  // The slot of a new value, written by the newest operation.
  Columns write(halogen_value_id id) {
    const halogen_value& v = value(id);
    Columns columns{new_slot(domain(v), width(v) * sizeof(float)), 0};
    if (id == graph().logits) {
      plan_.slots[columns.slot].place = Slot::Place::logits;
      plan_.slots[columns.slot].stride_bytes = width(v) * sizeof(float);
    }
    columns_[id] = columns;
    touch(columns.slot);
    return columns;
  }

  // --- emitting
  // ------------------------------------------------------------------------------------ The
  // operation that a row stage of this domain joins.
  RowOperation& rows(Domain d) {
    if (!open_rows_ || open_rows_->domain() != d) {
      auto operation = std::make_unique<RowOperation>(d);
      open_rows_ = operation.get();
      plan_.operations.push_back(std::move(operation));
    }
    return *open_rows_;
  }
  void push(std::unique_ptr<Operation> operation) {
    open_rows_ = nullptr;
    open_linear_ = nullptr;
    plan_.operations.push_back(std::move(operation));
  }

  void add_node(uint32_t index) {
    const halogen_node& n = node(index);
    if (is_view(n.op)) return add_view(n);
    if (fused(index)) return;
    if (n.op == HALOGEN_OP_LINEAR) return add_linear(index);
    if (n.op == HALOGEN_OP_ATTEND) return add_attend(n);
    add_row_node(n);
  }

  void add_view(const halogen_node& n) {
    Columns columns = columns_[n.inputs[0]];
    if (n.op == HALOGEN_OP_SPLIT) columns.first += static_cast<uint32_t>(n.attributes.split.offset);
    columns_[n.outputs[0]] = columns;
  }

  void add_row_node(const halogen_node& n) {
    const halogen_value& out = value(n.outputs[0]);
    open_linear_ = nullptr;
    RowOperation& operation = rows(domain(out));
    operation.append(make_stage(n, out, operation));
  }

  Stage make_stage(const halogen_node& n, const halogen_value& out, RowOperation& operation) {
    const halogen_value_id result = n.outputs[0];
    const uint32_t w = width(out);
    const halogen_attributes& a = n.attributes;
    switch (n.op) {
      case HALOGEN_OP_EMBED:
        return embed_stage(*copies_.find(value(n.inputs[1]).source), a.embed.scale, write(result));
      case HALOGEN_OP_NORM: {
        const uint32_t size = last_dim(out);
        const Columns x = read(n.inputs[0]);
        const float* weight = vector(n.inputs[1], a.norm.weight_offset);
        return norm_stage(a.norm.kind, a.norm.epsilon, weight,
                          n.n_inputs > 2 ? vector(n.inputs[2]) : nullptr, w / size, size, x,
                          write(result));
      }
      case HALOGEN_OP_ROPE: {
        const Columns angles = angles_of(n, operation);
        const Columns x = read(n.inputs[0]);
        return rope_stage(a.rope.pairing, w / last_dim(out), last_dim(out), a.rope.dims, angles, x,
                          write(result));
      }
      case HALOGEN_OP_GLU: {
        const Columns gate = read(n.inputs[0]), up = read(n.inputs[1]);
        return glu_stage(a.glu.activation, w, gate, up, write(result));
      }
      case HALOGEN_OP_ACTIVATE: {
        const Columns x = read(n.inputs[0]);
        return activate_stage(a.glu.activation, w, x, write(result));
      }
      case HALOGEN_OP_SCALE: {
        const Columns x = read(n.inputs[0]);
        return scale_stage(a.scale.factor, w, x, write(result));
      }
      case HALOGEN_OP_SOFTCAP: {
        const Columns x = read(n.inputs[0]);
        return softcap_stage(a.softcap.cap, w, x, write(result));
      }
      case HALOGEN_OP_SELECT_ROWS: {
        const Columns x = read(n.inputs[0]);
        return select_stage(w, x, write(result));
      }
      case HALOGEN_OP_CONCAT:
        return concat_stages(n, operation);
      default:
        return elementwise(n, w);
    }
  }

  Stage elementwise(const halogen_node& n, uint32_t w) {
    const Elementwise kind = n.op == HALOGEN_OP_ADD ? Elementwise::add : Elementwise::multiply;
    const Columns x = read(n.inputs[0]);
    const halogen_value& b = value(n.inputs[1]);
    if (b.kind != HALOGEN_VALUE_WEIGHT) {
      const Columns y = read(n.inputs[1]);
      return elementwise_stage(kind, w, x, y, write(n.outputs[0]));
    }
    const auto b_width = static_cast<uint32_t>(elements(b));
    return elementwise_stage(kind, w, x, vector(n.inputs[1]), b_width, write(n.outputs[0]));
  }

  // Concat joins the last dimension; only whole rows are joined here, which is what the families
  // use.
  Stage concat_stages(const halogen_node& n, RowOperation& operation) {
    const uint32_t first = width(value(n.inputs[0])), second = width(value(n.inputs[1]));
    const Columns a = read(n.inputs[0]), b = read(n.inputs[1]);
    const Columns out = write(n.outputs[0]);
    operation.append(copy_stage(first, a, out));
    return copy_stage(second, b, {out.slot, out.first + first});
  }

  // The angles that a rope node needs: made once, used by all layers that rotate alike.
  Columns angles_of(const halogen_node& n, RowOperation& operation) {
    const halogen_value_id factors = n.n_inputs > 2 ? n.inputs[2] : HALOGEN_NO_VALUE;
    for (const KnownAngles& known : known_angles_) {
      if (known.factors == factors && backends::same_rotation(known.attributes, n.attributes.rope))
        return read(known.columns);
    }
    plan_.angles.push_back(std::make_unique<RopeAngles>(n.attributes.rope, vector(factors)));
    const RopeAngles& angles = *plan_.angles.back();
    const Columns out{new_slot(Domain::tokens, 2 * angles.pairs() * sizeof(float)), 0};
    touch(out.slot);
    operation.append(angles_stage(angles, out));
    known_angles_.push_back({n.attributes.rope, factors, out});
    return out;
  }

  // What a product reads: the floats themselves, or the value quantised in the weight's format,
  // which all products of the same value share.
  Columns activations(halogen_value_id x, halogen_type weight_type, Domain d) {
    const ActivationFormat format =
        settings_.exact ? ActivationFormat::kF32 : activation_format(weight_type);
    const Columns source = columns_[x];
    if (format == ActivationFormat::kF32) return source;
    const uint32_t k = last_dim(value(x));
    const auto key =
        std::array<uint32_t, 4>{source.slot, source.first, k, static_cast<uint32_t>(format)};
    if (const auto known = quantised_.find(key); known != quantised_.end())
      return {known->second, 0};
    const uint32_t slot = new_slot(d, activation_row_bytes(format, k));
    open_linear_ = nullptr;
    RowOperation& operation = rows(d);
    operation.append(quantise_stage(format, k, read(source), slot));
    touch(slot);
    quantised_.emplace(key, slot);
    return {slot, 0};
  }

  void add_linear(uint32_t index) {
    const halogen_node& n = node(index);
    const halogen_value_id x = n.inputs[0];
    const halogen_weight& weight = *graph().weights[value(n.inputs[1]).source];
    const halogen_value& out = value(n.outputs[0]);
    const Domain d = domain(out);
    const auto k = static_cast<uint32_t>(weight.dims[1]);
    const halogen_value_id residual = residual_of(index);

    const Columns input = activations(x, weight.type, d);
    const bool residual_is_in_group = residual != HALOGEN_NO_VALUE && open_linear_ &&
                                      value(root(residual)).source >= linear_first_node_;
    if (!open_linear_ || linear_input_ != root(x) || columns_[x].first != linear_column_ ||
        k != open_linear_->k() || residual_is_in_group) {
      auto operation = std::make_unique<LinearOperation>(d, k);
      LinearOperation* opened = operation.get();
      push(std::move(operation));
      open_linear_ = opened;
      linear_input_ = root(x);
      linear_column_ = columns_[x].first;
      linear_first_node_ = index;
    }
    LinearOperation::Part part{};
    part.kernel = settings_.exact ? settings_.kernels->linear_exact(weight.type)
                                  : settings_.kernels->linear(weight.type);
    part.weights = copies_.find(value(n.inputs[1]).source);
    part.rows = static_cast<uint32_t>(weight.dims[0]);
    part.input = read(input);
    part.bias = n.n_inputs > 2 ? vector(n.inputs[2]) : nullptr;
    if (residual != HALOGEN_NO_VALUE) {
      part.has_residual = true;
      part.residual = read(residual);
      part.output = write(product_of(index));
    } else {
      part.output = write(n.outputs[0]);
    }
    open_linear_->append(part);
  }

  void add_attend(const halogen_node& n) {
    const halogen_attend_attributes& attend = n.attributes.attend;
    const halogen_kv_layer& layer = *graph().kv_layers[attend.kv_layer];
    const auto heads = static_cast<uint32_t>(value(n.inputs[0]).dims[1]);
    open_linear_ = nullptr;
    RowOperation& stores = rows(Domain::tokens);
    const Columns k = read(n.inputs[1]), v = read(n.inputs[2]);
    stores.append(kv_store_stage(attend.kv_layer, k, v));

    const float* sinks = n.n_inputs > 3 ? vector(n.inputs[3]) : nullptr;
    const Columns q = columns_[n.inputs[0]];
    push(nullptr);
    const Columns out = write(n.outputs[0]);
    const AttendShape shape = {heads,           layer.kv_heads, layer.key_dim,
                               layer.value_dim, attend.window,  attend.causal != 0};
    const AttendLayer attention = {
        &schedule_of(shape), attend.kv_layer, attend.scale, attend.softcap, sinks, read(q), out};
    plan_.operations.back() = std::make_unique<AttendOperation>(attention);
    if (attention.schedule->partial_rows() > 0) {
      rows(Domain::tokens).append(merge_stage(attention));
      touch(out.slot);
    }
  }

  // Layers of one shape share a schedule.
  const AttendSchedule& schedule_of(const AttendShape& shape) {
    for (const auto& known : plan_.schedules)
      if (known->shape() == shape) return *known;
    plan_.schedules.push_back(std::make_unique<AttendSchedule>(shape, limits_, settings_.members));
    const AttendSchedule& made = *plan_.schedules.back();
    plan_.scratch_floats = std::max<uint64_t>(plan_.scratch_floats, made.scratch().floats());
    plan_.partial_floats =
        std::max(plan_.partial_floats,
                 uint64_t{made.partial_rows()} * (attend_aligned(shape.value_dim) + 2));
    return made;
  }

  // The hidden state is read by the output matrix too, so that it is copied out where it is wanted.
  void emit_outputs() {
    if (graph().hidden == HALOGEN_NO_VALUE) return;
    const halogen_value& hidden = value(graph().hidden);
    open_linear_ = nullptr;
    RowOperation& operation = rows(domain(hidden));
    const Columns from = read(graph().hidden);
    const Columns out{new_slot(domain(hidden), width(hidden) * sizeof(float)), 0};
    plan_.slots[out.slot].place = Slot::Place::hidden;
    plan_.slots[out.slot].stride_bytes = width(hidden) * sizeof(float);
    touch(out.slot);
    operation.append(hidden_stage(width(hidden), from, out));
  }

  static Stage hidden_stage(uint32_t width, Columns from, Columns to) {
    class HiddenStage final : public RowStage {
     public:
      explicit HiddenStage(Stage copy) : copy_(std::move(copy)) {}
      void run(const StepContext& context, uint32_t row) const override {
        if (context.step.hidden) copy_->run(context, row);
      }

     private:
      Stage copy_;
    };
    return std::make_unique<HiddenStage>(copy_stage(width, from, to));
  }

  // What is written elsewhere than into the arena takes no bytes of it.
  void place_slots() {
    for (uint32_t i = 0; i < plan_.slots.size(); i++) {
      const Slot& slot = plan_.slots[i];
      const uint64_t rows = slot.domain == Domain::tokens ? limits_.max_tokens : limits_.max_rows;
      if (slot.place == Slot::Place::arena) tenants_[i].bytes = aligned(slot.stride_bytes * rows);
    }
    plan_.arena_bytes = backends::place(tenants_);
    for (uint32_t i = 0; i < plan_.slots.size(); i++) plan_.slots[i].offset = tenants_[i].offset;
  }

  struct KnownAngles {
    halogen_rope_attributes attributes;
    halogen_value_id factors;
    Columns columns;
  };

  const halogen_weight_data* weights_;
  const WeightCopies& copies_;
  const halogen_limits& limits_;
  const Settings& settings_;
  Plan& plan_;
  std::vector<Columns> columns_;                           // [values]
  std::vector<backends::Tenant> tenants_;                  // [slots]
  std::map<std::array<uint32_t, 4>, uint32_t> quantised_;  // slot, column, width, format
  std::vector<KnownAngles> known_angles_;
  RowOperation* open_rows_ = nullptr;
  LinearOperation* open_linear_ = nullptr;
  halogen_value_id linear_input_ = HALOGEN_NO_VALUE;
  uint32_t linear_column_ = 0;
  uint32_t linear_first_node_ = 0;
};

}  // namespace

Plan::Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

halogen_status compile_plan(const halogen_graph& graph, const halogen_weight_data* weights,
                            const WeightCopies& copies, const halogen_limits& limits,
                            const Settings& settings, Plan& plan, halogen_error* error) {
  if (const halogen_status status = backends::check_graph(graph, weights, check_node, error);
      status != HALOGEN_OK) {
    return status;
  }
  Compiler(graph, weights, copies, limits, settings, plan).compile();
  return HALOGEN_OK;
}

}  // namespace halogen::cpu
