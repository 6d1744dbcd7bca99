// The reference's values of the stored types, against ggml's own dequantiser.
#include "core/check/reference/dequantise.h"

#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/cpu_kernels/gguf_tensors.h"
#include "tests/unit/cpu_kernels/sha256.h"

namespace halogen::reference {
namespace {

using cpu::testing::for_each_golden_tensor;
using cpu::testing::GgufTensor;
using cpu::testing::sha256;

// Where an element is one product, so that it has one right float.
bool is_one_product(halogen_type type) {
  static const std::set<halogen_type> types = {
      HALOGEN_F32,  HALOGEN_F16,    HALOGEN_BF16,  HALOGEN_Q4_0,  HALOGEN_Q5_0,
      HALOGEN_Q8_0, HALOGEN_IQ4_NL, HALOGEN_TQ1_0, HALOGEN_TQ2_0, HALOGEN_MXFP4,
      HALOGEN_Q1_0, HALOGEN_Q2_0,   HALOGEN_NVFP4};
  return types.contains(type);
}

TEST(Dequantise, HasTheValuesOfGgmlForEveryGoldenTensor) {
  std::set<halogen_type> seen;
  const bool found = for_each_golden_tensor([&](const std::string& what, const GgufTensor& tensor,
                                                const nlohmann::json& expected) {
    if (!is_known(tensor.type)) return;
    SCOPED_TRACE(what);
    seen.insert(tensor.type);
    const size_t n = tensor.row_elements * tensor.rows;
    std::vector<double> values(n);
    ASSERT_TRUE(dequantise(tensor.type, tensor.data, n, values.data()));
    for (size_t i = 0; i < 8; ++i)
      EXPECT_NEAR(values[i], expected["first8"][i].get<double>(), 2e-9) << i;  // nine decimals
    if (!is_one_product(tensor.type)) return;
    const std::vector<float> rounded(values.begin(), values.end());
    EXPECT_EQ(sha256(rounded.data(), n * sizeof(float)), expected["sha256_f32"].get<std::string>());
  });
  if (!found) GTEST_SKIP() << "no golden.json";
  for (const halogen_type type :
       {HALOGEN_Q4_0, HALOGEN_Q4_1, HALOGEN_Q5_0, HALOGEN_Q5_1, HALOGEN_Q8_0, HALOGEN_Q2_K,
        HALOGEN_Q3_K, HALOGEN_Q4_K, HALOGEN_Q5_K, HALOGEN_Q6_K, HALOGEN_IQ4_NL, HALOGEN_IQ4_XS,
        HALOGEN_MXFP4})
    EXPECT_TRUE(seen.contains(type)) << halogen_type_find(type)->name << " not in the golden files";
}

// Types of which there is no file: blocks of zeros with some bytes set, and what the descriptions
// make of them.
class OneBlock {
 public:
  explicit OneBlock(halogen_type type)
      : type_(type), bytes_(halogen_type_find(type)->block_bytes) {}
  OneBlock& set(size_t at, uint8_t byte) {
    bytes_[at] = byte;
    return *this;
  }
  std::vector<double> at(const std::vector<size_t>& elements) const {
    std::vector<double> values(halogen_type_find(type_)->block_elements), picked;
    EXPECT_TRUE(dequantise(type_, bytes_.data(), values.size(), values.data()));
    for (const size_t element : elements) picked.push_back(values[element]);
    return picked;
  }

 private:
  halogen_type type_;
  std::vector<uint8_t> bytes_;
};

using Values = std::vector<double>;

TEST(Dequantise, ReadsTheTypesOfOneTwoAndTernaryBits) {
  EXPECT_EQ(OneBlock(HALOGEN_Q1_0).set(1, 0x3c).set(2, 0b101).at({0, 1, 2, 3}),
            (Values{1, -1, 1, -1}));
  EXPECT_EQ(OneBlock(HALOGEN_Q2_0).set(1, 0x40).set(2, 0b11100100).at({0, 1, 2, 3, 4}),
            (Values{-2, 0, 2, 4, -2}));
  EXPECT_EQ(OneBlock(HALOGEN_TQ2_0).set(65, 0x3c).set(0, 0b10010000).at({0, 32, 64, 96, 1}),
            (Values{-1, -1, 0, 1, -1}));
  // The digits 2 0 1 1 2 as a fraction of 256: (176 * 256 + 242) / 243; and 1 2 0 2 (0).
  const auto tq1 = OneBlock(HALOGEN_TQ1_0).set(53, 0x3c).set(0, 186).set(48, 149);
  EXPECT_EQ(tq1.at({0, 32, 64, 96, 128}), (Values{1, -1, 0, 0, 1}));
  EXPECT_EQ(tq1.at({240, 244, 248, 252}), (Values{0, 1, -1, 1}));
}

TEST(Dequantise, ReadsFourBitFloatsUnderEightBitScales) {
  // Sub-block 1 has the scale 1, and 1.5 2^-6 in sub-block 2.
  const auto block = OneBlock(HALOGEN_NVFP4).set(1, 0x38).set(2, 0x0c).set(12, 0x2b).set(20, 0x0f);
  EXPECT_EQ(block.at({16, 24, 17}), (Values{-1.5, 1, 0}));
  EXPECT_EQ(block.at({32, 40}), (Values{-6 * 1.5 * 0x1p-6, 0}));
}

TEST(Dequantise, KnowsEveryHalf) {
  for (uint32_t bits = 0; bits < 65536; bits++) {
    const double value = half_value(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(nearest_half(value), bits);
  }
  EXPECT_EQ(half_value(0x3c00), 1.0);
  EXPECT_EQ(half_value(0x0001), 0x1p-24);
  EXPECT_EQ(half_value(0x7bff), 65504.0);
}

TEST(Dequantise, RoundsToTheNearestHalfTiesToEven) {
  EXPECT_EQ(nearest_half(1.0 + 0x1p-11), 0x3c00);
  EXPECT_EQ(nearest_half(1.0 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(nearest_half(65519.0), 0x7bff);
  EXPECT_EQ(nearest_half(65520.0), 0x7c00);
  EXPECT_EQ(nearest_half(0x1p-25), 0x0000);
  EXPECT_EQ(nearest_half(0x1.8p-24), 0x0002);
  EXPECT_EQ(nearest_half(2.0 - 0x1p-12), 0x4000);
  EXPECT_EQ(nearest_half(-0.0), 0x8000);
}

}  // namespace
}  // namespace halogen::reference
