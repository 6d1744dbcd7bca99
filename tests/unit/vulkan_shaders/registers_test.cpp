// Every shader compiles for RDNA 3.5 and stays in its registers. Needs no GPU, but a RADV that
// knows gfx1151: scripts/vulkan-registers runs this test with one.
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/vulkan_shaders/radv.h"

namespace halogen::vulkan::testing {
namespace {

class CompiledShaders : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      radv_ = std::make_unique<Radv>();
    } catch (const std::exception& missing) {
      GTEST_SKIP() << missing.what();
    }
  }
  std::unique_ptr<Radv> radv_;
};

TEST_F(CompiledShaders, SpillNoRegisters) {
  for (const Variant& variant : shader_variants()) {
    SCOPED_TRACE(variant.shader + " " + variant.what);
    const ShaderStatistics statistics = radv_->compile(variant).statistics;
    ASSERT_TRUE(statistics.contains("VGPRs") && statistics.contains("Spilled VGPRs"));
    EXPECT_EQ(statistics.at("Spilled VGPRs"), 0);
    EXPECT_EQ(statistics.at("Spilled SGPRs"), 0);
    EXPECT_EQ(statistics.at("Scratch size"), 0);
  }
}

TEST_F(CompiledShaders, UseTheInstructionsTheyAreMadeFor) {
  for (const Variant& variant : shader_variants()) {
    const bool dots = variant.shader.find("matvec_q8") != std::string::npos;
    const bool matrices = variant.shader.find("cooperative") != std::string::npos;
    if (!dots && !matrices) continue;
    SCOPED_TRACE(variant.shader + " " + variant.what);
    const std::string assembly = radv_->compile(variant).assembly;
    EXPECT_NE(assembly.find(dots ? "v_dot4_i32_iu8" : "v_wmma_f32_16x16x16_f16"),
              std::string::npos);
  }
}

TEST(ShaderVariants, CoverEveryShader) {
  std::set<std::string> covered;
  for (const Variant& variant : shader_variants()) covered.insert(variant.shader);
  for (const Shader& shader : all_shaders())
    EXPECT_TRUE(covered.contains(std::string(shader.name))) << shader.name;
}

}  // namespace
}  // namespace halogen::vulkan::testing
