#include "core/text/normalize.h"

#include <string>

#include <gtest/gtest.h>

namespace halogen::text {
namespace {

TEST(Normalize, ComposesLettersAndMarks) {
  EXPECT_EQ(normalized_nfc("cafe\u0301"), "caf\u00E9");
  EXPECT_EQ(normalized_nfc("\u212B"), "\u00C5");              // the ångström sign is the letter
  EXPECT_EQ(normalized_nfc("\u1112\u1161\u11AB"), "\uD55C");  // Hangul
}

TEST(Normalize, OrdersMarksByClass) {
  EXPECT_EQ(normalized_nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(normalized_nfc("e\u0301\u0327"), "\u0229\u0301");  // the cedilla comes first
}

TEST(Normalize, KeepsWhatFormCKeeps) {
  EXPECT_EQ(normalized_nfc("\uFB01 \u2460"), "\uFB01 \u2460");  // no compatibility mappings
  EXPECT_EQ(normalized_nfc("\u0958"), "\u0915\u093C");          // excluded from composition
  EXPECT_EQ(normalized_nfc(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Normalize, LeavesInvalidBytesInPlace) {
  EXPECT_EQ(normalized_nfc("e\u0301\xFF\u0301x\xE2\x82"), "\u00E9\xFF\u0301x\xE2\x82");
}

TEST(Normalize, KnowsTextThatCannotChange) {
  EXPECT_TRUE(is_surely_normalized("plain, naïve \u02FF"));
  EXPECT_FALSE(is_surely_normalized("e\u0301"));
}

// Quadratic reordering would need 10^11 steps here.
TEST(Normalize, OrdersAMegabyteOfMarks) {
  constexpr size_t kMarks = 250000;
  std::string above;
  std::string below;
  for (size_t i = 0; i < kMarks; ++i) {
    above += "\u0307";
    below += "\u0323";
  }
  EXPECT_EQ(normalized_nfc("q" + above + below), "q" + below + above);
}

}  // namespace
}  // namespace halogen::text
