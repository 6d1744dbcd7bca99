// Norm, rotation and storing in one pass, beside float64.
#include "core/check/reference/dequantise.h"
#include "core/check/reference/operators.h"
#include "tests/unit/vulkan_shaders/angle_tables.h"
#include "tests/unit/vulkan_shaders/support.h"

namespace halogen::vulkan::testing {
namespace {

using reference::Precision;

struct Shape {
  size_t heads, kv_heads;
  uint32_t key_dim, value_dim, rotated, block_tokens;
  halogen_rope_pairing pairing;
  bool normed;
};

// K in F32 and V in F16, so that what the pool holds says exactly what was stored.
class Prepared {
 public:
  Prepared(Gpu& gpu, const Shape& shape)
      : gpu_(gpu),
        shape_(shape),
        random_(1),
        q_(gpu, {kTokens, shape.heads, shape.key_dim}, random_),
        k_(gpu, {kTokens, shape.kv_heads, shape.key_dim}, random_),
        v_(gpu, {kTokens, shape.kv_heads, shape.value_dim}, random_),
        q_weight_(gpu, {1, shape.key_dim}, random_),
        k_weight_(gpu, {1, shape.key_dim}, random_),
        angles_(gpu, shape.rotated, kBase, 2000),
        positions_(gpu.upload(kPositions)),
        slots_(gpu.upload(kSlots)) {
    const size_t rows = shape.kv_heads * shape.block_tokens;
    key_block_bytes_ = static_cast<uint32_t>(rows * shape.key_dim * 4);
    value_block_bytes_ = static_cast<uint32_t>((rows * shape.value_dim * 2 + 15) / 16 * 16);
    keys_ = gpu.make(size_t{kBlocks} * key_block_bytes_);
    values_ = gpu.make(size_t{kBlocks} * value_block_bytes_);
    StepTables tables{};
    tables.positions = positions_->address();
    tables.kv_slots = slots_->address();
    tables.n_tokens = kTokens;
    step_ = gpu.upload(std::vector<StepTables>{tables});
    run();
  }

  void expect() {
    expect_rows(q_.rows, expected(q_.tensor, q_weight_), "q");
    const Tensor k = expected(k_.tensor, k_weight_);
    for (size_t t = 0; t < kTokens; t++)
      for (size_t h = 0; h < shape_.kv_heads; h++) {
        for (uint32_t d = 0; d < shape_.key_dim; d++) {
          const size_t at = (t * shape_.kv_heads + h) * shape_.key_dim + d;
          const float stored =
              keys_->as<float>()[place(t, h, shape_.key_dim, key_block_bytes_ / 4) + d];
          ASSERT_NEAR(stored, k.values[at], k.errors[at]) << "k of token " << t;
        }
        for (uint32_t d = 0; d < shape_.value_dim; d++) {
          const size_t at = (t * shape_.kv_heads + h) * shape_.value_dim + d;
          const uint16_t stored =
              values_->as<uint16_t>()[place(t, h, shape_.value_dim, value_block_bytes_ / 2) + d];
          ASSERT_EQ(stored, reference::nearest_half(v_.tensor.values[at])) << "v of token " << t;
        }
      }
  }

 private:
  static constexpr uint32_t kTokens = 4, kBlocks = 4;
  static constexpr float kBase = 10000, kEpsilon = 1e-6F;
  inline static const std::vector<int32_t> kPositions = {0, 5, 300, 1999};
  inline static const std::vector<uint32_t> kSlots = {0, 7, 2, 11};

  // Index of the first element of a token's row in the pool.
  size_t place(size_t token, size_t head, uint32_t dim, uint32_t block_elements) const {
    const uint32_t slot = kSlots[token];
    return size_t{slot / shape_.block_tokens} * block_elements +
           (head * shape_.block_tokens + slot % shape_.block_tokens) * dim;
  }

  Tensor expected(const Tensor& x, const Values& weight) const {
    halogen_rope_attributes attributes{};
    attributes.pairing = shape_.pairing;
    attributes.dims = shape_.rotated;
    attributes.base = kBase;
    attributes.attention_factor = 1;
    const Tensor normed = shape_.normed ? reference::norm(HALOGEN_NORM_RMS, x, &weight.tensor,
                                                          nullptr, kEpsilon, 0, Precision::f32)
                                        : x;
    if (shape_.rotated == 0) return normed;
    return reference::rope(normed, kPositions, nullptr, attributes, Precision::f32);
  }

  void run() {
    PrepareConstants constants{};
    constants.q = q_.rows.address();
    constants.k = k_.rows.address();
    constants.v = v_.rows.address();
    constants.q_weight = shape_.normed ? q_weight_.rows.address() : 0;
    constants.k_weight = shape_.normed ? k_weight_.rows.address() : 0;
    constants.fine_angles = angles_.fine->address();
    constants.coarse_angles = angles_.coarse->address();
    constants.keys = keys_->address();
    constants.values = values_->address();
    constants.step = step_->address();
    constants.heads = static_cast<uint32_t>(shape_.heads);
    constants.kv_heads = static_cast<uint32_t>(shape_.kv_heads);
    constants.pairs = shape_.rotated / 2;
    constants.q_stride = q_.rows.stride;
    constants.k_stride = k_.rows.stride;
    constants.v_stride = v_.rows.stride;
    constants.key_block_bytes = key_block_bytes_;
    constants.value_block_bytes = value_block_bytes_;
    constants.epsilon = kEpsilon;
    const PrepareSpecialization specialization{64,
                                               static_cast<uint32_t>(shape_.pairing),
                                               HALOGEN_F32,
                                               HALOGEN_F16,
                                               shape_.key_dim,
                                               shape_.value_dim,
                                               shape_.block_tokens};
    gpu_.run("prepare_heads", specialization, constants,
             prepare_groups(constants.heads, constants.kv_heads, kTokens + 1));
  }

  Gpu& gpu_;
  const Shape& shape_;
  std::mt19937 random_;
  Values q_, k_, v_, q_weight_, k_weight_;
  AngleTables angles_;
  std::unique_ptr<Buffer> positions_, slots_, step_, keys_, values_;
  uint32_t key_block_bytes_, value_block_bytes_;
};

TEST(PrepareShader, NormsTurnsAndStores) {
  HALOGEN_GPU_OR_SKIP(gpu);
  for (const Shape& shape : {Shape{6, 2, 64, 64, 64, 16, HALOGEN_ROPE_HALVES, true},
                             Shape{4, 4, 128, 128, 128, 16, HALOGEN_ROPE_ADJACENT, false},
                             Shape{3, 1, 96, 80, 32, 3, HALOGEN_ROPE_HALVES, true},
                             Shape{2, 1, 20, 13, 0, 16, HALOGEN_ROPE_HALVES, false}}) {
    Prepared prepared(*gpu, shape);
    prepared.expect();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace halogen::vulkan::testing
