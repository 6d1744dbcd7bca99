// Models in several files.
#include <map>

#include <gtest/gtest.h>

#include "plugins/gguf/gguf_model.h"
#include "tests/unit/gguf/gguf_writer.h"

namespace halogen::gguf {
namespace {

using test::Image;

class GgufSplit : public testing::Test {
 protected:
  static std::string part(uint16_t number, uint16_t count, int32_t tensors,
                          const std::string& tensor) {
    Image image;
    image.keys = {test::number_key("split.no", ValueType::u16, number),
                  test::number_key("split.count", ValueType::u16, count),
                  test::number_key("split.tensors.count", ValueType::i32, tensors)};
    image.tensors = {test::tensor_entry(tensor, {8}, HALOGEN_F32, 0)};
    image.data = std::string(32, '\0');
    return image.bytes();
  }

  bool open(const std::string& name) {
    failure_ = {};
    return open_gguf_model(scratch_.path(name), model_, failure_);
  }

  void expect_refused(const std::string& name, const std::string& because) {
    EXPECT_FALSE(open(name));
    EXPECT_NE(failure_.message.find(because), std::string::npos) << failure_.message;
  }

  test::Scratch scratch_;
  GgufModel model_;
  Failure failure_;
};

TEST_F(GgufSplit, OpensAllPartsThroughTheFirst) {
  scratch_.write("m-00001-of-00002.gguf", part(0, 2, 2, "a"));
  scratch_.write("m-00002-of-00002.gguf", part(1, 2, 2, "b"));
  ASSERT_TRUE(open("m-00001-of-00002.gguf")) << failure_.message;
  ASSERT_EQ(model_.files.size(), 2);
  EXPECT_EQ(model_.files[1], scratch_.path("m-00002-of-00002.gguf"));
  EXPECT_EQ(find_tensor(model_, "a")->file, 0);
  EXPECT_EQ(find_tensor(model_, "b")->file, 1);
  EXPECT_EQ(find_tensor(model_, "c"), nullptr);
}

TEST_F(GgufSplit, NamesTheFileItExpects) {
  scratch_.write("m-00001-of-00002.gguf", part(0, 2, 2, "a"));
  expect_refused("m-00001-of-00002.gguf", scratch_.path("m-00002-of-00002.gguf"));
  EXPECT_EQ(failure_.status, HALOGEN_E_NOT_FOUND);

  scratch_.write("m-00002-of-00002.gguf", part(1, 2, 2, "b"));
  expect_refused("m-00002-of-00002.gguf",
                 "open the first part: " + scratch_.path("m-00001-of-00002.gguf"));

  scratch_.write("renamed.gguf", part(0, 2, 2, "a"));
  expect_refused("renamed.gguf", "must end in -00001-of-00002.gguf");
  scratch_.write("second.gguf", part(1, 2, 2, "b"));
  expect_refused("second.gguf", "ends in -00001-of-00002.gguf");
}

TEST_F(GgufSplit, RefusesPartsThatDoNotBelongTogether) {
  scratch_.write("m-00001-of-00002.gguf", part(0, 2, 2, "a"));
  scratch_.write("m-00002-of-00002.gguf", part(1, 3, 2, "b"));
  expect_refused("m-00001-of-00002.gguf", "says it is part 2 of 3, but its name says part 2 of 2");
  scratch_.write("m-00002-of-00002.gguf", part(1, 2, 2, "a"));
  expect_refused("m-00001-of-00002.gguf", "tensor 'a' is in the table twice");
  scratch_.write("m-00001-of-00002.gguf", part(0, 2, 5, "a"));
  expect_refused("m-00001-of-00002.gguf", "says 5 tensors, but the 2 parts have 2");
  scratch_.write("m-00001-of-00002.gguf", part(7, 2, 2, "a"));
  expect_refused("m-00001-of-00002.gguf", "part 7 of 2 parts");
}

TEST_F(GgufSplit, EqualsTheSameModelInOneFile) {
  const std::string folder = std::string(HALOGEN_TEST_DATA) + "/gguf/";
  const std::string first = folder + "split/qwen2-tiny-bf16-00001-of-00003.gguf";
  if (!std::filesystem::exists(first)) GTEST_SKIP() << "no " << first;
  GgufModel whole;
  ASSERT_TRUE(open_gguf_model(folder + "qwen2-tiny-bf16.gguf", whole, failure_))
      << failure_.message;
  ASSERT_TRUE(open_gguf_model(first, model_, failure_)) << failure_.message;
  ASSERT_EQ(model_.files.size(), 3);
  ASSERT_EQ(model_.tensors.size(), whole.tensors.size());
  std::map<uint32_t, int> per_file;
  for (const Tensor& expected : whole.tensors) {
    const Tensor* tensor = find_tensor(model_, expected.name);
    ASSERT_NE(tensor, nullptr) << expected.name;
    EXPECT_EQ(tensor->type, expected.type) << expected.name;
    EXPECT_EQ(tensor->rank, expected.rank) << expected.name;
    EXPECT_TRUE(std::equal(tensor->shape, tensor->shape + kMaxTensorRank, expected.shape));
    ASSERT_EQ(tensor->bytes, expected.bytes) << expected.name;
    EXPECT_TRUE(test::read_bytes(model_.files[tensor->file], tensor->offset, tensor->bytes) ==
                test::read_bytes(whole.files[0], expected.offset, expected.bytes))
        << expected.name;
    per_file[tensor->file]++;
  }
  EXPECT_EQ(per_file.size(), 3);
}

}  // namespace
}  // namespace halogen::gguf
