#include "plugins/vulkan/adapter.h"

#include <gtest/gtest.h>

#include "plugins/vulkan/failure.h"

namespace halogen::vulkan {
namespace {

std::vector<Adapter> three() {
  std::vector<Adapter> adapters(3);
  adapters[0].name = "Old GPU";
  adapters[0].missing = "shaderInt64";
  adapters[1].name = "AMD Radeon Graphics (RADV GFX1151)";
  adapters[2].name = "llvmpipe";
  return adapters;
}

TEST(ChooseAdapter, TakesTheFirstThatWillDo) {
  const auto adapters = three();
  EXPECT_EQ(&choose_adapter(adapters, "auto"), &adapters[1]);
}

TEST(ChooseAdapter, TakesNumbersAndPartsOfNames) {
  const auto adapters = three();
  EXPECT_EQ(&choose_adapter(adapters, "2"), &adapters[2]);
  EXPECT_EQ(&choose_adapter(adapters, "gfx1151"), &adapters[1]);
}

TEST(ChooseAdapter, NamesWhatThereIsWhereNothingMatches) {
  try {
    choose_adapter(three(), "nvidia");
    FAIL() << "a device that is not there was found";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), HALOGEN_E_NOT_FOUND);
    EXPECT_NE(std::string(failure.what()).find("2 is 'llvmpipe'"), std::string::npos);
  }
  EXPECT_THROW(choose_adapter(three(), "3"), Failure);
}

TEST(ChooseAdapter, SaysWhatTheChosenOneLacks) {
  try {
    choose_adapter(three(), "0");
    FAIL() << "a device without shaderInt64 was taken";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), HALOGEN_E_UNSUPPORTED);
    EXPECT_NE(std::string(failure.what()).find("lacks shaderInt64"), std::string::npos);
  }
}

TEST(ChooseAdapter, AsksForADriverWhereThereIsNoDevice) {
  EXPECT_THROW(choose_adapter({}, "auto"), Failure);
}

}  // namespace
}  // namespace halogen::vulkan
