// Counts what a text stream allocates. In a binary of its own, because it replaces operator new.
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "core/text/text_stream.h"
#include "tests/unit/text/small_vocabulary.h"

namespace {
size_t allocations = 0;

void* allocate(size_t bytes) {
  allocations++;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
}  // namespace

#include "tests/unit/replaced_new.h"  // wants allocate()

namespace halogen::text {
namespace {

TEST(TextStreamAllocation, NoneForATokenOfAnyKind) {
  const auto tokenizer = testing::make_tokenizer(testing::byte_level_vocabulary());
  TextStream stream(*tokenizer, {.stop = {std::string(100, 'a') + "!", "€€"}});
  const std::string text = std::string(100, 'a') + "b é€ \xFF 😀 a€é" + std::string(90, 'a');

  const size_t before = allocations;
  size_t returned = 0;
  for (int round = 0; round < 100; ++round) {
    for (const char byte : text) returned += stream.push(static_cast<uint8_t>(byte)).size();
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(returned, 90 * text.size());
  EXPECT_FALSE(stream.stop());
}

}  // namespace
}  // namespace halogen::text
