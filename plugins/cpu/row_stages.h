// Work that needs nothing but one row's own values: norms, rotations, activations, residuals,
// quantising. Stages that follow each other run on a row one after another, on one thread, without
// a barrier between.
#pragma once

#include <memory>
#include <vector>

#include "plugins/cpu/rope_angles.h"
#include "plugins/cpu/step_context.h"
#include "plugins/cpu/weight_copies.h"

namespace halogen::cpu {

class RowStage {
 public:
  virtual ~RowStage() = default;
  virtual void run(const StepContext& context, uint32_t row) const = 0;
};

class RowOperation final : public Operation {
 public:
  explicit RowOperation(Domain domain) : domain_(domain) {}
  Domain domain() const { return domain_; }
  void append(std::unique_ptr<RowStage> stage) { stages_.push_back(std::move(stage)); }
  void run(const StepContext& context, uint32_t index, float* scratch) const override;

 private:
  Domain domain_;
  std::vector<std::unique_ptr<RowStage>> stages_;
};

using Stage = std::unique_ptr<RowStage>;

// Row `token_ids[row]` of the table, times scale.
Stage embed_stage(const WeightMatrix& table, float scale, Columns out);
// Norm over each of `groups` runs of `size` elements; weight and bias [size] or null.
Stage norm_stage(halogen_norm_kind kind, float epsilon, const float* weight, const float* bias,
                 uint32_t groups, uint32_t size, Columns x, Columns out);
// cos and sin of a token's position, [pairs] each, one after the other.
Stage angles_stage(const RopeAngles& angles, Columns out);
// Copies x to out and rotates the first `dims` elements of each head there.
Stage rope_stage(halogen_rope_pairing pairing, uint32_t heads, uint32_t head_dim, uint32_t dims,
                 Columns angles, Columns x, Columns out);
Stage kv_store_stage(uint32_t kv_layer, Columns k, Columns v);
Stage glu_stage(halogen_activation activation, uint32_t width, Columns gate, Columns up,
                Columns out);
Stage activate_stage(halogen_activation activation, uint32_t width, Columns x, Columns out);

enum class Elementwise : uint8_t { add, multiply };
// b is a row of its own, or a constant vector that repeats over the width.
Stage elementwise_stage(Elementwise kind, uint32_t width, Columns a, Columns b, Columns out);
Stage elementwise_stage(Elementwise kind, uint32_t width, Columns a, const float* b,
                        uint32_t b_width, Columns out);
Stage scale_stage(float factor, uint32_t width, Columns x, Columns out);
Stage softcap_stage(float cap, uint32_t width, Columns x, Columns out);
// out row r is x's row rows[r].
Stage select_stage(uint32_t width, Columns x, Columns out);
// Copies `width` floats, for concat and for outputs that are also read.
Stage copy_stage(uint32_t width, Columns x, Columns out);
// x in the activation format that linear kernels take; `out` is a slot of bytes.
Stage quantise_stage(ActivationFormat format, uint32_t width, Columns x, uint32_t out);

}  // namespace halogen::cpu
