// Every shader compiles for RDNA 3.5 and stays in its registers. Needs no GPU, but a RADV that
// knows gfx1151: scripts/vulkan-registers runs this test with one.
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/vulkan_shaders/radv.h"

namespace halogen::vulkan::testing {
namespace {

TEST(ShaderRegisters, AreNeverSpilled) {
  std::unique_ptr<Radv> radv;
  try {
    radv = std::make_unique<Radv>();
  } catch (const std::exception& missing) {
    GTEST_SKIP() << missing.what();
  }
  for (const Variant& variant : shader_variants()) {
    SCOPED_TRACE(variant.shader + " " + variant.what);
    const ShaderStatistics statistics = radv->compile(variant);
    ASSERT_TRUE(statistics.contains("VGPRs") && statistics.contains("Spilled VGPRs"));
    EXPECT_EQ(statistics.at("Spilled VGPRs"), 0);
    EXPECT_EQ(statistics.at("Spilled SGPRs"), 0);
    EXPECT_EQ(statistics.at("Scratch size"), 0);
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
