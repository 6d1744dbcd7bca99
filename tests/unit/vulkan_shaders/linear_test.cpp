// Embedding and matrix products of every weight type, beside float64.
#include "core/check/reference/dequantise.h"
#include "core/check/reference/operators.h"
#include "tests/unit/vulkan_shaders/support.h"

namespace halogen::vulkan::testing {
namespace {

using reference::Precision;

constexpr halogen_type kTypes[] = {HALOGEN_F32,  HALOGEN_F16,    HALOGEN_BF16,  HALOGEN_Q4_0,
                                   HALOGEN_Q4_1, HALOGEN_Q5_0,   HALOGEN_Q5_1,  HALOGEN_Q8_0,
                                   HALOGEN_Q2_K, HALOGEN_Q3_K,   HALOGEN_Q4_K,  HALOGEN_Q5_K,
                                   HALOGEN_Q6_K, HALOGEN_IQ4_NL, HALOGEN_MXFP4, HALOGEN_IQ4_XS};

std::string name_of(halogen_type type) {
  return halogen_type_find(type)->name;
}

// A stored matrix, on the device and as the reference takes it.
struct Matrix {
  halogen_type type;
  size_t rows, columns;
  Tensor tensor;
  std::unique_ptr<Buffer> buffer;

  Matrix(const Gpu& gpu, halogen_type stored_as, size_t n_rows, size_t n_columns,
         std::mt19937& random)
      : type(stored_as), rows(n_rows), columns(n_columns) {
    const std::vector<uint8_t> bytes = reference::random_weights(type, rows * columns, random);
    halogen_weight weight{};
    weight.type = type;
    weight.n_dims = 2;
    weight.dims[0] = static_cast<int64_t>(rows);
    weight.dims[1] = static_cast<int64_t>(columns);
    tensor = reference::stored_weight(weight, bytes.data());
    buffer = gpu.upload(bytes);
  }
  uint32_t row_bytes() const { return static_cast<uint32_t>(halogen_row_bytes(type, columns)); }
};

class WeightType : public ::testing::TestWithParam<halogen_type> {
 protected:
  const halogen_type type_ = GetParam();

  // Plain types have no blocks, so rows of any length.
  size_t columns_of(size_t blocks) const {
    const size_t block = halogen_type_find(type_)->block_elements;
    return block > 1 ? block * blocks : 37 * blocks + 1;
  }
};

TEST_P(WeightType, EmbedsRows) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(1);
  for (const size_t blocks : {1, 3})
    for (const float scale : {1.0F, 3.5F}) {
      const Matrix table(*gpu, type_, 23, columns_of(blocks), random);
      const std::vector<int32_t> ids = {22, 0, 7, 7, 1};
      const auto ids_buffer = gpu->upload(ids), count = upload_count(*gpu, ids.size());
      const Rows y = make_rows(*gpu, ids.size(), table.columns);
      EmbedConstants constants{};
      constants.table = table.buffer->address();
      constants.ids = ids_buffer->address();
      constants.count = count->address();
      constants.y = y.address();
      constants.row_bytes = table.row_bytes();
      constants.columns = static_cast<uint32_t>(table.columns);
      constants.y_stride = y.stride;
      constants.scale = scale;
      const EmbedSpecialization specialization;
      gpu->run("embed_" + name_of(type_), specialization, constants,
               embed_groups(specialization, constants.columns, 8));  // more than there are
      expect_rows(y, reference::embed(ids, table.tensor, scale, Precision::f32));
    }
}

// One product, with bias and residual or without.
struct Product {
  Matrix weights;
  Values x, bias, residual;
  Tensor expected;
  bool extras;

  Product(const Gpu& gpu, halogen_type type, size_t rows, size_t columns, size_t tokens,
          bool has_extras, std::mt19937& random)
      : weights(gpu, type, rows, columns, random),
        x(gpu, {tokens, columns}, random),
        bias(gpu, {1, rows}, random),
        residual(gpu, {tokens, rows}, random),
        extras(has_extras) {
    expect(Precision::f32);
  }

  // Makes the inputs signed bytes, and allows for that.
  void quantise(Gpu& gpu) {
    const size_t tokens = x.tensor.rows();
    const auto columns = static_cast<uint32_t>(weights.columns);
    const auto count = upload_count(gpu, tokens);
    Rows codes{q8_row_words(columns) + 4, gpu.make(tokens * (q8_row_words(columns) + 4) * 4)};
    QuantiseConstants constants{};
    constants.x = x.rows.address();
    constants.count = count->address();
    constants.y = codes.address();
    constants.columns = columns;
    constants.x_stride = x.rows.stride;
    constants.y_stride = codes.stride;
    const QuantiseSpecialization specialization;
    gpu.run("quantise_q8", specialization, constants,
            quantise_groups(specialization, columns, static_cast<uint32_t>(tokens) + 1));
    x.rows = std::move(codes);
    expect(Precision::q8);
  }

  void expect(Precision precision) {
    expected = reference::linear(x.tensor, weights.tensor, extras ? &bias.tensor : nullptr,
                                 precision == Precision::q8, precision);
    if (extras) expected = reference::add(expected, residual.tensor, Precision::f32);
  }

  template <typename Specialization>
  void run(Gpu& gpu, const std::string& shader, const Specialization& specialization,
           Groups groups) const {
    const auto count = upload_count(gpu, x.tensor.rows());
    const Rows y = make_rows(gpu, x.tensor.rows(), weights.rows);
    LinearConstants constants{};
    constants.weights = weights.buffer->address();
    constants.x = x.rows.address();
    constants.bias = extras ? bias.rows.address() : 0;
    constants.residual = extras ? residual.rows.address() : 0;
    constants.count = count->address();
    constants.y = y.address();
    constants.row_bytes = weights.row_bytes();
    constants.rows = static_cast<uint32_t>(weights.rows);
    constants.columns = static_cast<uint32_t>(weights.columns);
    constants.x_stride = x.rows.stride;
    constants.residual_stride = residual.rows.stride;
    constants.y_stride = y.stride;
    gpu.run(shader, specialization, constants, groups);
    expect_rows(y, expected,
                shader + " of " + std::to_string(weights.rows) + "x" +
                    std::to_string(weights.columns) + " for " + std::to_string(x.tensor.rows()));
  }
};

TEST_P(WeightType, MultipliesAFewTokens) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(2);
  struct Shape {
    uint32_t rows, blocks, tokens;
    MatvecSpecialization specialization;
  };
  const uint32_t floor = std::min(gpu->subgroup_size(), 4U);
  const Shape shapes[] = {{1, 1, 1, {64, 1, 4, 1}},      {7, 1, 3, {32, 4, 2, 1}},
                          {33, 5, 8, {64, 8, 4, floor}}, {130, 3, 16, {64, 16, 2, floor}},
                          {5, 17, 2, {128, 2, 8, 1}},    {9, 2, 11, {64, 4, 3, 1}}};
  for (const Shape& shape : shapes) {
    const Product product(*gpu, type_, shape.rows, columns_of(shape.blocks), shape.tokens,
                          shape.rows % 2 == 1, random);
    product.run(*gpu, "matvec_" + name_of(type_), shape.specialization,
                matvec_groups(shape.specialization, shape.rows, shape.tokens));
    if (HasFatalFailure()) return;
  }
}

TEST_P(WeightType, MultipliesManyTokens) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(3);
  struct Shape {
    uint32_t rows, blocks, tokens;
  };
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{67, 1, 65}, Shape{130, 3, 20}}) {
    const Product product(*gpu, type_, shape.rows, columns_of(shape.blocks), shape.tokens,
                          shape.rows % 2 == 1, random);
    product.run(*gpu, "matmul_" + name_of(type_), MatmulSpecialization{},
                matmul_groups(shape.rows, shape.tokens));
    if (HasFatalFailure()) return;
  }
}

// Fewer workgroups than rows take: each goes on with the next ones.
TEST_P(WeightType, MultipliesMoreRowsThanWorkgroups) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(4);
  const Product product(*gpu, type_, 11, columns_of(1), 2, true, random);
  product.run(*gpu, "matvec_" + name_of(type_), MatvecSpecialization{64, 2, 2, 1}, {2, 1, 1});
}

// The same, with the inputs rounded to 8 bits.
TEST_P(WeightType, MultipliesInIntegers) {
  HALOGEN_GPU_OR_SKIP(gpu);
  if (halogen_type_find(type_)->block_elements == 1) return;
  if (!gpu->has_integer_dot()) GTEST_SKIP() << gpu->name() << " has no integer dot product";
  std::mt19937 random(5);
  struct Shape {
    uint32_t rows, blocks, tokens;
    MatvecSpecialization specialization;
  };
  for (const Shape& shape : {Shape{1, 1, 1, {32, 1, 1, 1}}, Shape{33, 5, 8, {64, 8, 4, 1}},
                             Shape{7, 17, 11, {64, 4, 2, 1}}}) {
    Product product(*gpu, type_, shape.rows, columns_of(shape.blocks), shape.tokens,
                    shape.rows % 2 == 1, random);
    product.quantise(*gpu);
    product.run(*gpu, "matvec_q8_" + name_of(type_), shape.specialization,
                matvec_groups(shape.specialization, shape.rows, shape.tokens));
    if (HasFatalFailure()) return;
  }
}

// With inputs and weights rounded to halves. Several steps of columns, rows and tokens beside
// tiles.
TEST_P(WeightType, MultipliesWithCooperativeMatrices) {
  HALOGEN_GPU_OR_SKIP(gpu);
  if (!gpu->has_cooperative_matrices())
    GTEST_SKIP() << gpu->name() << " has no cooperative matrices";
  std::mt19937 random(6);
  struct Shape {
    uint32_t rows, blocks, tokens;
  };
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{67, 1, 130}, Shape{130, 3, 65}}) {
    Product product(*gpu, type_, shape.rows, columns_of(shape.blocks), shape.tokens,
                    shape.rows % 2 == 1, random);
    product.expect(Precision::f16);
    product.run(*gpu, "matmul_cooperative_" + name_of(type_),
                MatmulCooperativeSpecialization{4 * gpu->subgroup_size()},
                matmul_cooperative_groups(shape.rows, shape.tokens));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shaders, WeightType, ::testing::ValuesIn(kTypes),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace halogen::vulkan::testing
