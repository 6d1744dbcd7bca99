// Norms, rotations, activations, sums and copies beside float64.
#include "core/check/reference/operators.h"
#include "tests/unit/vulkan_shaders/angle_tables.h"
#include "tests/unit/vulkan_shaders/support.h"

namespace halogen::vulkan::testing {
namespace {

using reference::Precision;

uint32_t width_of(const Tensor& tensor) {
  return static_cast<uint32_t>(tensor.width());
}

struct NormCase {
  halogen_norm_kind kind;
  size_t vectors, columns;
  bool weight, bias, residual;
  uint32_t local_size;
};

TEST(VectorShaders, NormVectors) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(1);
  constexpr float kEpsilon = 1e-5F;
  for (const NormCase& c : {NormCase{HALOGEN_NORM_RMS, 1, 1, true, false, false, 32},
                            NormCase{HALOGEN_NORM_RMS, 1, 2050, true, false, true, 256},
                            NormCase{HALOGEN_NORM_RMS, 6, 40, true, false, false, 64},
                            NormCase{HALOGEN_NORM_RMS, 1, 257, false, false, true, 64},
                            NormCase{HALOGEN_NORM_LAYER, 1, 300, true, true, false, 256},
                            NormCase{HALOGEN_NORM_LAYER, 1, 7, false, false, true, 32},
                            NormCase{HALOGEN_NORM_L2, 3, 96, true, false, false, 64}}) {
    const size_t tokens = 5;
    const float offset = c.vectors > 1 ? 1.0F : 0.0F;
    Values x(*gpu, {tokens, c.vectors, c.columns}, random, 3.0F);
    const Values residual(*gpu, {tokens, c.vectors, c.columns}, random);
    const Values weight(*gpu, {1, c.columns}, random), bias(*gpu, {1, c.columns}, random);
    const auto count = upload_count(*gpu, tokens);
    const Rows y = make_rows(*gpu, tokens, x.tensor.width());
    NormConstants constants{};
    constants.x = x.rows.address();
    constants.residual = c.residual ? residual.rows.address() : 0;
    constants.weight = c.weight ? weight.rows.address() : 0;
    constants.bias = c.bias ? bias.rows.address() : 0;
    constants.count = count->address();
    constants.sum = c.residual ? x.rows.address() : 0;  // in place
    constants.y = y.address();
    constants.columns = constants.vector_stride = static_cast<uint32_t>(c.columns);
    constants.x_stride = constants.sum_stride = x.rows.stride;
    constants.residual_stride = residual.rows.stride;
    constants.y_stride = y.stride;
    constants.epsilon = kEpsilon;
    constants.weight_offset = offset;
    gpu->run("norm", NormSpecialization{c.local_size, static_cast<uint32_t>(c.kind)}, constants,
             norm_groups(static_cast<uint32_t>(c.vectors), tokens + 2));
    const Tensor sum =
        c.residual ? reference::add(x.tensor, residual.tensor, Precision::f32) : x.tensor;
    expect_rows(y,
                reference::norm(c.kind, sum, c.weight ? &weight.tensor : nullptr,
                                c.bias ? &bias.tensor : nullptr, kEpsilon, offset, Precision::f32));
    if (c.residual) {
      const auto floats = x.rows.buffer->as<float>();
      for (size_t i = 0; i < sum.values.size(); i++)
        ASSERT_LE(
            std::fabs(floats[i / sum.width() * x.rows.stride + i % sum.width()] - sum.values[i]),
            sum.errors[i]);
    }
  }
}

TEST(VectorShaders, NormVectorsAsSignedBytes) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(7);
  const size_t tokens = 3, columns = 2080;
  Values x(*gpu, {tokens, columns}, random, 3.0F);
  const Values residual(*gpu, {tokens, columns}, random), weight(*gpu, {1, columns}, random);
  const auto count = upload_count(*gpu, tokens);
  const uint32_t stride = q8_row_words(columns);
  const auto q8 = gpu->make(tokens * stride * 4);
  NormConstants constants{};
  constants.x = constants.sum = x.rows.address();
  constants.residual = residual.rows.address();
  constants.weight = weight.rows.address();
  constants.count = count->address();
  constants.q8 = q8->address();
  constants.columns = constants.vector_stride = columns;
  constants.x_stride = constants.residual_stride = constants.sum_stride = x.rows.stride;
  constants.q8_stride = stride;
  constants.epsilon = 1e-5F;
  gpu->run("norm", NormSpecialization{128, HALOGEN_NORM_RMS}, constants, norm_groups(1, tokens));
  const Tensor sum = reference::add(x.tensor, residual.tensor, Precision::f32);
  expect_q8_rows(
      *q8, stride,
      reference::norm(HALOGEN_NORM_RMS, sum, &weight.tensor, nullptr, 1e-5F, 0, Precision::f32));
  expect_rows(x.rows, sum);
}

TEST(VectorShaders, ActivateToSignedBytes) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(8);
  const size_t tokens = 3, columns = 544;
  const Values gate(*gpu, {tokens, columns}, random), up(*gpu, {tokens, columns}, random);
  const auto count = upload_count(*gpu, tokens);
  const uint32_t stride = q8_row_words(columns) + 4;
  const auto q8 = gpu->make(tokens * stride * 4);
  for (const bool gated : {true, false}) {
    ActivateConstants constants{};
    constants.gate = gate.rows.address();
    constants.up = gated ? up.rows.address() : 0;
    constants.count = count->address();
    constants.y = q8->address();
    constants.columns = columns;
    constants.gate_stride = constants.up_stride = gate.rows.stride;
    constants.y_stride = stride;
    const ActivateSpecialization specialization{32, HALOGEN_SILU};
    gpu->run("activate_q8", specialization, constants,
             activate_q8_groups(specialization, columns, tokens + 1));
    expect_q8_rows(*q8, stride,
                   gated
                       ? reference::glu(gate.tensor, up.tensor, HALOGEN_SILU, 0, 0, Precision::f32)
                       : reference::activate(gate.tensor, HALOGEN_SILU, Precision::f32));
  }
}

TEST(VectorShaders, RopeTurnsPairs) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(2);
  struct RopeCase {
    halogen_rope_pairing pairing;
    size_t heads, size;
    uint32_t rotated;
    bool in_place;
  };
  for (const RopeCase& c : {RopeCase{HALOGEN_ROPE_HALVES, 3, 64, 64, false},
                            RopeCase{HALOGEN_ROPE_ADJACENT, 2, 80, 80, false},
                            RopeCase{HALOGEN_ROPE_HALVES, 3, 96, 32, false},
                            RopeCase{HALOGEN_ROPE_ADJACENT, 5, 128, 64, true},
                            RopeCase{HALOGEN_ROPE_HALVES, 1, 6, 2, true}}) {
    const std::vector<int32_t> positions = {0, 1, 255, 256, 257, 4095, 100000};
    halogen_rope_attributes attributes{};
    attributes.pairing = c.pairing;
    attributes.dims = c.rotated;
    attributes.base = 10000;
    attributes.attention_factor = 1;
    const Values x(*gpu, {positions.size(), c.heads, c.size}, random);
    const AngleTables angles(*gpu, c.rotated, attributes.base, 100000);
    const auto count = upload_count(*gpu, positions.size()), where = gpu->upload(positions);
    const Rows other = make_rows(*gpu, positions.size(), x.tensor.width());
    const Rows& y = c.in_place ? x.rows : other;
    RopeConstants constants{};
    constants.x = x.rows.address();
    constants.positions = where->address();
    constants.fine_angles = angles.fine->address();
    constants.coarse_angles = angles.coarse->address();
    constants.count = count->address();
    constants.y = y.address();
    constants.pairs = c.rotated / 2;
    constants.head_dim = constants.head_stride = static_cast<uint32_t>(c.size);
    constants.x_stride = constants.y_stride = y.stride;
    gpu->run("rope", RopeSpecialization{32, static_cast<uint32_t>(c.pairing)}, constants,
             rope_groups(static_cast<uint32_t>(c.heads), 9));
    expect_rows(y, reference::rope(x.tensor, positions, nullptr, attributes, Precision::f32));
  }
}

TEST(VectorShaders, ActivateAndGate) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(3);
  for (const halogen_activation activation :
       {HALOGEN_SILU, HALOGEN_GELU_TANH, HALOGEN_GELU_ERF, HALOGEN_RELU, HALOGEN_SIGMOID,
        HALOGEN_SWIGLU_CLAMPED})
    for (const bool gated : {true, false}) {
      if (!gated && activation == HALOGEN_SWIGLU_CLAMPED) continue;  // takes two inputs
      Values gate(*gpu, {9, 517}, random, 6.0F);
      const Values up(*gpu, {9, 517}, random, 4.0F);
      // Where exp overflows.
      gate.tensor.values[0] = gate.rows.buffer->as<float>()[0] = 200;
      gate.tensor.values[1] = gate.rows.buffer->as<float>()[1] = -200;
      const auto count = upload_count(*gpu, 9);
      const Rows y = make_rows(*gpu, 9, 517);
      ActivateConstants constants{};
      constants.gate = gate.rows.address();
      constants.up = gated ? up.rows.address() : 0;
      constants.count = count->address();
      constants.y = y.address();
      constants.columns = width_of(gate.tensor);
      constants.gate_stride = constants.up_stride = constants.y_stride = y.stride;
      constants.alpha = 1.702F;
      constants.limit = 7.0F;
      const ActivateSpecialization specialization{256, static_cast<uint32_t>(activation)};
      gpu->run("activate", specialization, constants, activate_groups(specialization, 517, 10));
      const Tensor expected = gated
                                  ? reference::glu(gate.tensor, up.tensor, activation,
                                                   constants.alpha, constants.limit, Precision::f32)
                                  : reference::activate(gate.tensor, activation, Precision::f32);
      expect_rows(y, expected, "activation " + std::to_string(activation));
    }
}

TEST(VectorShaders, AddMultiplyScaleAndCap) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(4);
  for (const Elementwise operation :
       {Elementwise::kAdd, Elementwise::kMultiply, Elementwise::kScale, Elementwise::kSoftcap})
    for (const size_t b_columns : {77, 11}) {
      const bool whole = b_columns == 77;
      const Values a(*gpu, {5, 77}, random, 20.0F);
      const Values b(*gpu, {whole ? size_t{5} : size_t{1}, b_columns}, random);
      const auto count = upload_count(*gpu, 5);
      const Rows y = make_rows(*gpu, 5, 77);
      ElementwiseConstants constants{};
      constants.a = a.rows.address();
      constants.b = b.rows.address();
      constants.count = count->address();
      constants.y = y.address();
      constants.columns = 77;
      constants.b_columns = static_cast<uint32_t>(b_columns);
      constants.a_stride = constants.y_stride = y.stride;
      constants.b_stride = whole ? b.rows.stride : 0;
      constants.factor = 30;
      const ElementwiseSpecialization specialization{64, operation};
      gpu->run("elementwise", specialization, constants, elementwise_groups(specialization, 77, 6));
      Tensor expected;
      switch (operation) {
        case Elementwise::kAdd:
          expected = reference::add(a.tensor, b.tensor, Precision::f32);
          break;
        case Elementwise::kMultiply:
          expected = reference::multiply(a.tensor, b.tensor, Precision::f32);
          break;
        case Elementwise::kScale:
          expected = reference::scale(a.tensor, 30, Precision::f32);
          break;
        case Elementwise::kSoftcap:
          expected = reference::softcap(a.tensor, 30, Precision::f32);
          break;
      }
      expect_rows(y, expected, "operation " + std::to_string(static_cast<int>(operation)));
    }
}

TEST(VectorShaders, CopyChosenRows) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(5);
  const Values x(*gpu, {12, 40}, random);
  const std::vector<int32_t> rows = {7, 0, 11, 11};
  const auto chosen = gpu->upload(rows), count = upload_count(*gpu, rows.size());
  const Rows y = make_rows(*gpu, rows.size(), 40);
  CopyConstants constants{};
  constants.x = x.rows.address();
  constants.rows = chosen->address();
  constants.count = count->address();
  constants.y = y.address();
  constants.columns = 40;
  constants.x_stride = constants.y_stride = y.stride;
  constants.runs = 1;
  gpu->run("copy_rows", CopySpecialization{32}, constants, copy_groups({32}, 40, 1, 6));
  expect_rows(y, reference::select_rows(x.tensor, rows));
}

// The second half of each head, as a split that is no view.
TEST(VectorShaders, CopyRunsOfRows) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(6);
  const Values x(*gpu, {3, 4, 24}, random);
  const auto count = upload_count(*gpu, 3);
  const Rows y = make_rows(*gpu, 3, 4 * 8);
  CopyConstants constants{};
  constants.x = x.rows.address() + 16 * sizeof(float);
  constants.count = count->address();
  constants.y = y.address();
  constants.columns = 8;
  constants.x_stride = x.rows.stride;
  constants.y_stride = y.stride;
  constants.runs = 4;
  constants.x_run_stride = 24;
  constants.y_run_stride = 8;
  gpu->run("copy_rows", CopySpecialization{32}, constants, copy_groups({32}, 8, 4, 3));
  expect_rows(y, reference::split(x.tensor, 16, 8));
}

}  // namespace
}  // namespace halogen::vulkan::testing
