// Cut and random damage: whatever the verdict, no crash, and nothing read outside the file. Most
// telling in a build with sanitizers.
#include <random>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/gguf/gguf_metadata.h"
#include "tests/unit/gguf/allocation_watch.h"
#include "tests/unit/gguf/gguf_writer.h"

namespace halogen::gguf {
namespace {

// A file in memory: thousands of files on disk would take the time of the test.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("gguf", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string write(std::string_view bytes) const {
    EXPECT_EQ(::ftruncate(descriptor_, std::ssize(bytes)), 0);
    EXPECT_EQ(::pwrite(descriptor_, bytes.data(), bytes.size(), 0), std::ssize(bytes));
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

bool opens(const std::string& path, Failure& failure) {
  GgufModel model;
  NormalisedMetadata metadata;
  return open_gguf_model(path, model, failure) && normalise_metadata(model, metadata, failure);
}

// A complete small model: all kinds of keys, and one tensor of each of three types.
std::string small_model() {
  test::Image image;
  image.keys = {test::text_key("general.architecture", "llama"),
                test::u32_key("llama.block_count", 2),
                test::u32_key("llama.context_length", 64),
                test::u32_key("llama.embedding_length", 32),
                test::u32s_key("llama.feed_forward_length", {64, 96}),
                test::u32_key("llama.attention.head_count", 4),
                test::f32_key("llama.attention.layer_norm_rms_epsilon", 1e-5F),
                test::text_key("tokenizer.ggml.model", "llama"),
                test::texts_key("tokenizer.ggml.tokens", {"a", "b", "", "d"}),
                test::array_key("tokenizer.ggml.scores", ValueType::f32, 4, std::string(16, '\0')),
                test::u32_key("tokenizer.ggml.bos_token_id", 1),
                test::number_key("tokenizer.ggml.add_bos_token", ValueType::boolean, uint8_t{1})};
  image.tensors = {test::tensor_entry("token_embd.weight", {32, 4}, HALOGEN_F16, 0),
                   test::tensor_entry("output_norm.weight", {32}, HALOGEN_F32, 256),
                   test::tensor_entry("blk.0.attn_q.weight", {32, 32}, HALOGEN_Q8_0, 384)};
  image.data = std::string(384 + 32 * 34, '\0');
  return image.bytes();
}

TEST(GgufRobustness, EveryTruncationIsRefused) {
  const std::string whole = small_model();
  const MemoryFile file;
  Failure failure;
  ASSERT_TRUE(opens(file.write(whole), failure)) << failure.message;
  for (size_t size = 0; size < whole.size(); size++) {
    failure = {};
    EXPECT_FALSE(opens(file.write(whole.substr(0, size)), failure)) << size;
    EXPECT_NE(failure.message, "") << size;
  }
}

TEST(GgufRobustness, RandomDamageNeverCrashes) {
  const std::string whole = small_model();
  const MemoryFile file;
  std::mt19937 random(20250101);
  int refused = 0;
  for (int round = 0; round < 20000; round++) {
    std::string damaged = whole;
    const unsigned flips = 1 + random() % 4;
    for (unsigned i = 0; i < flips; i++) {
      damaged[random() % 900] = static_cast<char>(random());
    }
    Failure failure;
    test::reset_largest_allocation();
    if (!opens(file.write(damaged), failure)) {
      refused++;
      ASSERT_NE(failure.message, "") << "round " << round;
      ASSERT_NE(failure.status, HALOGEN_OK) << "round " << round;
    }
    ASSERT_LT(test::largest_allocation(), 64 << 10) << "round " << round;
  }
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace halogen::gguf
