// What counts as the same numbers.
#include "core/check/backend/compare.h"

#include <gtest/gtest.h>

namespace halogen::check {
namespace {

reference::Tensor two_elements() {
  reference::Tensor tensor({1, 2});
  tensor.set(0, 1, 1e-6);
  tensor.set(1, -2, 1e-6);
  return tensor;
}

TEST(Comparison, TakesWhatIsWithinTheBounds) {
  Comparison comparison;
  comparison.add("output", two_elements(), std::vector<float>{1, -2});
  EXPECT_EQ(comparison.outcome().verdict, Verdict::pass);
  EXPECT_EQ(comparison.within(1e-6).verdict, Verdict::pass);
}

TEST(Comparison, NamesTheElementThatIsFurthestOff) {
  Comparison comparison;
  comparison.add("output", two_elements(), std::vector<float>{1, -1});
  EXPECT_TRUE(
      comparison.outcome().sentence.starts_with("output: row 0, element 1 is -1 where -2 ± 1e-06"));
  EXPECT_EQ(comparison.within(0.1).verdict, Verdict::fail);
}

TEST(Comparison, FailsWhereElementsAreMissing) {
  Comparison comparison;
  comparison.add("output", two_elements(), std::vector<float>{1});
  const std::string sentence = "output has 1 elements instead of 2";
  EXPECT_EQ(comparison.outcome().sentence, sentence);
  EXPECT_EQ(comparison.within(1).verdict, Verdict::fail);
  EXPECT_EQ(comparison.within(1).sentence, sentence);
}

}  // namespace
}  // namespace halogen::check
