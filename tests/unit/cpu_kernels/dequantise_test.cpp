// Dequantisation against the digests that ggml's own dequantiser left in golden.json.
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/cpu_kernels/gguf_tensors.h"
#include "tests/unit/cpu_kernels/random_blocks.h"
#include "tests/unit/cpu_kernels/sha256.h"

namespace halogen::cpu::testing {
namespace {

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Dequantise, HasTheBitsOfGgmlForEveryGoldenTensor) {
  std::set<halogen_type> seen;
  const bool found = for_each_golden_tensor([&](const std::string& what, const GgufTensor& tensor,
                                                const nlohmann::json& expected) {
    if (!kernels(InstructionSet::kPortable).linear(tensor.type)) return;
    seen.insert(tensor.type);
    for (const InstructionSet id : available_sets()) {
      SCOPED_TRACE(what + " " + instruction_set_name(id));
      const size_t n = tensor.row_elements * tensor.rows;
      std::vector<float> values(n);
      ASSERT_TRUE(kernels(id).dequantise(tensor.type, tensor.data, n, values.data()));
      for (size_t i = 0; i < 8; ++i)
        EXPECT_NEAR(values[i], expected["first8"][i].get<double>(), 1e-9) << i;  // nine decimals
      EXPECT_EQ(sha256(values.data(), n * sizeof(float)),
                expected["sha256_f32"].get<std::string>());
    }
  });
  if (!found) GTEST_SKIP() << "no golden.json";
  for (const halogen_type type : kQuantisedTypes)
    EXPECT_TRUE(seen.contains(type)) << halogen_type_find(type)->name << " not in the golden files";
}

TEST(Dequantise, AgreesBetweenTheSetsOnRandomBlocks) {
  std::mt19937 random(1);
  for (const halogen_type type : all_types()) {
    const size_t n = 4096;
    const auto weights = random_weights(type, n, random);
    std::vector<float> reference(n);
    ASSERT_TRUE(
        kernels(InstructionSet::kPortable).dequantise(type, weights.data(), n, reference.data()));
    for (const InstructionSet id : available_sets()) {
      std::vector<float> values(n);
      ASSERT_TRUE(kernels(id).dequantise(type, weights.data(), n, values.data()));
      EXPECT_EQ(std::memcmp(values.data(), reference.data(), n * sizeof(float)), 0)
          << halogen_type_find(type)->name << " " << instruction_set_name(id);
    }
  }
}

TEST(Dequantise, RefusesTypesWithoutAKernel) {
  const uint8_t block[256] = {};
  float out[256];
  for (const InstructionSet id : available_sets()) {
    for (const halogen_type type : {HALOGEN_IQ2_XXS, HALOGEN_I32, HALOGEN_NVFP4}) {
      EXPECT_FALSE(kernels(id).dequantise(type, block, 256, out));
      EXPECT_EQ(kernels(id).linear(type), nullptr);
      EXPECT_EQ(kernels(id).linear_exact(type), nullptr);
    }
  }
}

}  // namespace
}  // namespace halogen::cpu::testing
