// What a single file may and may not say, in files built byte by byte.
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "plugins/gguf/byte_cursor.h"
#include "plugins/gguf/gguf_file.h"
#include "tests/unit/gguf/allocation_watch.h"
#include "tests/unit/gguf/gguf_writer.h"

namespace halogen::gguf {
namespace {

using test::Image;
using test::tensor_entry;

class GgufHeader : public testing::Test {
 protected:
  bool read(const std::string& bytes) {
    failure_ = {};
    return read_gguf_file(scratch_.write("x.gguf", bytes), file_, failure_);
  }

  void expect_refused(const std::string& bytes, std::string_view because) {
    EXPECT_FALSE(read(bytes)) << because;
    EXPECT_NE(failure_.message.find(because), std::string::npos) << failure_.message;
    EXPECT_EQ(failure_.message.find(scratch_.path("x.gguf")), 0) << failure_.message;
    EXPECT_NE(failure_.status, HALOGEN_OK);
  }

  // An image of one F32 tensor of 8 elements, whose table entry is given.
  static std::string with_entry(const std::string& entry) {
    return Image{.tensors = {entry}, .data = std::string(32, '\0')}.bytes();
  }

  test::Scratch scratch_;
  GgufFile file_;
  Failure failure_;
};

TEST_F(GgufHeader, DescribesTensorsWithoutReadingThem) {
  Image image;
  image.keys = {test::text_key("general.architecture", "llama")};
  image.tensors = {tensor_entry("a", {4, 2}, HALOGEN_F32, 0),
                   tensor_entry("b", {32, 3, 2}, HALOGEN_Q4_0, 64)};
  image.data = std::string(64 + 6 * 18, '\x01');
  ASSERT_TRUE(read(image.bytes())) << failure_.message;
  EXPECT_EQ(file_.version, 3);
  EXPECT_EQ(file_.data_begin % 32, 0);
  ASSERT_EQ(file_.tensors.size(), 2);
  const Tensor& b = file_.tensors[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.type, HALOGEN_Q4_0);
  EXPECT_EQ(b.rank, 3);
  EXPECT_EQ(b.shape[0], 32);
  EXPECT_EQ(b.shape[1], 3);
  EXPECT_EQ(b.shape[2], 2);
  EXPECT_EQ(b.offset, file_.data_begin + 64);
  EXPECT_EQ(b.bytes, 6 * 18);
  EXPECT_EQ(file_.tensors[0].bytes, 32);
}

TEST_F(GgufHeader, ReadsEveryTensorTypeOfTheSdk) {
  for (halogen_type type = 0; type < 256; type++) {
    const halogen_type_traits* traits = halogen_type_find(type);
    if (!traits) continue;
    Image image;
    image.tensors = {tensor_entry("t", {traits->block_elements * 2ULL, 3}, type, 0)};
    image.data = std::string(traits->block_bytes * 6ULL, '\0');
    ASSERT_TRUE(read(image.bytes())) << traits->name << ": " << failure_.message;
    EXPECT_EQ(file_.tensors[0].bytes, traits->block_bytes * 6ULL) << traits->name;
  }
}

TEST_F(GgufHeader, NamesTheVersionItCannotRead) {
  expect_refused(Image{.version = 1}.bytes(), "version 1 is too old");
  EXPECT_EQ(failure_.status, HALOGEN_E_VERSION);
  expect_refused(Image{.version = 99}.bytes(), "version 99 is not known");
  expect_refused(Image{.version = 0x03000000}.bytes(), "big-endian GGUF file of version 3");
  EXPECT_TRUE(read(Image{.version = 2}.bytes())) << failure_.message;
}

TEST_F(GgufHeader, SaysWhatAFileOfAnotherFormatIs) {
  expect_refused("", "empty");
  expect_refused("GG", "not with 'GGUF'");
  expect_refused("GGUF\x03", "inside the header");
  expect_refused(std::string("FUGG") + std::string(40, '\0'), "big-endian");
  expect_refused(std::string("tjgg") + std::string(40, '\0'), "from before GGUF");
  expect_refused(std::string("PK\x03\x04") + std::string(40, '\0'), "PyTorch");
  expect_refused(test::bytes_of(uint64_t{64}) + "{\"a\":1}" + std::string(60, ' '), "safetensors");
  expect_refused("version https://git-lfs.github.com/spec/v1\n", "git lfs pull");
}

TEST_F(GgufHeader, RefusesWhatIsNoRegularFile) {
  EXPECT_FALSE(read_gguf_file(scratch_.path("none"), file_, failure_));
  EXPECT_EQ(failure_.status, HALOGEN_E_NOT_FOUND);
  EXPECT_FALSE(read_gguf_file(scratch_.path(""), file_, failure_));
  EXPECT_NE(failure_.message.find("folder"), std::string::npos) << failure_.message;
  ASSERT_EQ(::mkfifo(scratch_.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read_gguf_file(scratch_.path("pipe"), file_, failure_));  // and does not wait
  EXPECT_NE(failure_.message.find("regular file"), std::string::npos) << failure_.message;
}

TEST_F(GgufHeader, NamesTheTensorThatIsWrong) {
  expect_refused(with_entry(tensor_entry("t", {}, 0, 0)), "tensor 't': has 0 dimensions");
  expect_refused(with_entry(tensor_entry("t", {1, 1, 1, 1, 1}, 0, 0)), "has 5 dimensions");
  expect_refused(with_entry(tensor_entry("t", {4, 0}, 0, 0)), "tensor 't': dimension 1 is 0");
  expect_refused(with_entry(tensor_entry("t", {1ULL << 33, 1ULL << 33}, 0, 0)), "64 bits");
  expect_refused(with_entry(tensor_entry("t", {(1ULL << 62) + 64}, 0, 0)), "64 bits");
  expect_refused(with_entry(tensor_entry("t", {8}, 200, 0)), "tensor 't': has type 200");
  expect_refused(with_entry(tensor_entry("t", {8}, 4, 0)), "removed from the format");
  expect_refused(with_entry(tensor_entry("t", {20}, HALOGEN_Q4_0, 0)), "blocks of 32");
  expect_refused(with_entry(tensor_entry("t", {8}, 0, 16)), "no multiple of the alignment 32");
  expect_refused(with_entry(tensor_entry("t", {9}, 0, 0)), "tensor 't': offset 0 with 36 bytes");
  expect_refused(with_entry(tensor_entry("t", {8}, 0, 1ULL << 40)), "beyond the 32 bytes of data");
  expect_refused(with_entry(tensor_entry("t", {8}, 0, ~uint64_t{31})), "beyond the 32 bytes");
  expect_refused(with_entry(tensor_entry("", {8}, 0, 0)), "tensor 0: has an empty name");
  expect_refused(with_entry(tensor_entry("t\xFF", {8}, 0, 0)), "'t\\xff' is not UTF-8");
  EXPECT_TRUE(read(with_entry(tensor_entry("t", {8}, 0, 0)))) << failure_.message;
}

TEST_F(GgufHeader, RefusesTensorsThatShareANameOrBytes) {
  Image image;
  image.data = std::string(128, '\0');
  image.tensors = {tensor_entry("t", {8}, 0, 0), tensor_entry("t", {8}, 0, 32)};
  expect_refused(image.bytes(), "tensor 't' is in the table twice");
  image.tensors = {tensor_entry("late", {8}, 0, 32), tensor_entry("early", {16}, 0, 0)};
  expect_refused(image.bytes(), "tensor 'late' at byte ");
  image.tensors = {tensor_entry("late", {8}, 0, 64), tensor_entry("early", {16}, 0, 0)};
  EXPECT_TRUE(read(image.bytes())) << failure_.message;
}

TEST_F(GgufHeader, NamesTheKeyThatIsWrong) {
  const auto one_key = [](const std::string& key) { return Image{.keys = {key}}.bytes(); };
  expect_refused(one_key(test::string_of("x.t") + test::bytes_of(13U) + "1234"),
                 "key 'x.t': unknown value type 13");
  expect_refused(one_key(test::u32_key("", 1)), "key 0: is an empty text");
  expect_refused(one_key(test::u32_key("a\xFF", 1)), "'a\\xff' is not UTF-8");
  expect_refused(one_key(test::u32_key(std::string_view("a\0b", 3), 1)), "contains a NUL");
  expect_refused(one_key(test::u32_key(std::string(70000, 'k'), 1)), "at most 65535");
  expect_refused(Image{.keys = {test::u32_key("a", 1), test::u32_key("a", 1)}}.bytes(),
                 "key 'a' is there twice");
  expect_refused(one_key(test::array_key("x.a", ValueType::string, 2,
                                         test::string_of("a") + test::bytes_of(~uint64_t{7}))),
                 "key 'x.a': element 1: string: needs 18446744073709551608 bytes");
}

TEST_F(GgufHeader, FollowsTheAlignmentAndChecksIt) {
  Image image;
  image.tensors = {tensor_entry("t", {8}, 0, 0)};
  image.data = std::string(32, '\0');
  image.alignment = 4096;
  image.keys = {test::u32_key("general.alignment", 4096)};
  ASSERT_TRUE(read(image.bytes())) << failure_.message;
  EXPECT_EQ(file_.tensors[0].offset, 4096);
  for (const uint32_t wrong : {0U, 4U, 24U, 1U << 31}) {
    image.keys = {test::u32_key("general.alignment", wrong)};
    expect_refused(image.bytes(), "key 'general.alignment'");
  }
  image.keys = {test::text_key("general.alignment", "32")};
  expect_refused(image.bytes(), "key 'general.alignment': is of type string");
}

TEST_F(GgufHeader, NoticesATableThatIsLongerThanTheHeaderSays) {
  std::string bytes = Image{.tensors = {tensor_entry("t", {8}, 0, 0)}}.bytes();
  bytes.back() = 'x';
  expect_refused(bytes + std::string(32, '\0'), "number of tensors or general.alignment is wrong");
}

TEST_F(GgufHeader, AllocatesNothingForAFalseCount) {
  const auto counts = [](uint64_t tensors, uint64_t keys) {
    return "GGUF" + test::bytes_of(3U) + test::bytes_of(tensors) + test::bytes_of(keys) +
           std::string(64, '\0');
  };
  std::string images[] = {
      counts(1ULL << 60, 0),
      counts(0, 1ULL << 60),
      counts(1000000000, 0),
      Image{.keys = {test::array_key("a", ValueType::u8, 1ULL << 60, "1234")}}.bytes(),
      Image{.keys = {test::array_key("a", ValueType::u64, (1ULL << 61) + 1, "12345678")}}.bytes(),
      Image{.keys = {test::array_key("a", ValueType::string, 1ULL << 60, "12345678")}}.bytes(),
      Image{.keys = {test::array_key("a", ValueType::array, 1ULL << 60, "12345678")}}.bytes(),
      Image{.tensors = {tensor_entry("t", {1ULL << 30, 1ULL << 30}, 0, 0)}}.bytes()};
  for (const std::string& image : images) {
    const std::string path = scratch_.write("false.gguf", image);
    test::reset_largest_allocation();
    failure_ = {};
    EXPECT_FALSE(read_gguf_file(path, file_, failure_));
    EXPECT_LT(test::largest_allocation(), 4096) << failure_.message;
  }
}

TEST_F(GgufHeader, SaysWhenTheFileShrinksWhileItIsRead) {
  const std::string path = scratch_.write("shrinks", std::string(1 << 20, 'x'));
  ReadOnlyFile file;
  ASSERT_TRUE(file.open(path, failure_)) << failure_.message;
  ByteCursor cursor(file);
  std::filesystem::resize_file(path, 1000);
  std::string bytes(1 << 20, '\0');
  EXPECT_FALSE(cursor.read(bytes.data(), bytes.size(), failure_));
  EXPECT_EQ(failure_.status, HALOGEN_E_IO);
  EXPECT_NE(failure_.message.find("ended at byte 1000"), std::string::npos) << failure_.message;
}

}  // namespace
}  // namespace halogen::gguf
