#include "plugins/gguf/gguf_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "plugins/gguf/byte_cursor.h"
#include "plugins/gguf/read_only_file.h"
#include "plugins/gguf/text.h"
#include "plugins/gguf/value_reader.h"

namespace halogen::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kOldestVersion = 2;
constexpr uint32_t kNewestVersion = 3;
constexpr uint64_t kHeaderBytes = 24;
constexpr uint64_t kMaxKeyBytes = 65535;
constexpr uint64_t kLeastEntryBytes = 8 + 1 + 4 + 1;  // key length, one byte of key, type, a u8
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kLeastAlignment = 8;  // the format asks for multiples of 8
constexpr uint64_t kMaxAlignment = uint64_t{64} << 20;

// What a file with another magic probably is.
std::string foreign_format(std::string_view head) {
  const auto begins = [head](std::string_view with) { return head.substr(0, with.size()) == with; };
  if (begins("FUGG")) return "it is a big-endian GGUF file; convert the model for little-endian";
  if (begins("tjgg") || begins("fmgg") || begins("lmgg")) {
    return "it is a GGML file from before GGUF; convert the model anew";
  }
  if (begins("version https://git-lfs")) {
    return "it is a Git LFS pointer; fetch the real file with `git lfs pull`";
  }
  if (begins("PK\x03\x04")) return "it looks like a PyTorch or zip file; convert the model to GGUF";
  if (head.size() > 8 && head[8] == '{') {
    return "it looks like a safetensors file; name its folder or rename it to .safetensors";
  }
  return "it is no GGUF file";
}

bool check_magic(const ReadOnlyFile& file, Failure& failure) {
  if (file.size() == 0) return failure.set(HALOGEN_E_INVALID, "the file is empty");
  char head[32] = {};
  const uint64_t size = std::min<uint64_t>(file.size(), sizeof head);
  if (!file.read(0, head, size, failure)) return false;
  const std::string_view begin(head, size);
  if (!has_gguf_magic(head, size)) {
    return failure.set(HALOGEN_E_INVALID, concat("begins with ", in_quotes(begin.substr(0, 4)),
                                                 " and not with 'GGUF'; ", foreign_format(begin)));
  }
  if (size < kHeaderBytes) {
    return failure.set(HALOGEN_E_INVALID, concat("ends at byte ", size, ", inside the header of ",
                                                 kHeaderBytes, " bytes; it is incomplete"));
  }
  return true;
}

bool check_version(uint32_t version, Failure& failure) {
  if (version >= kOldestVersion && version <= kNewestVersion) return true;
  if (version == 1) {
    return failure.set(
        HALOGEN_E_VERSION,
        "GGUF version 1 is too old; versions 2 and 3 are read, convert the model anew");
  }
  const uint32_t swapped = __builtin_bswap32(version);
  if (swapped >= 1 && swapped <= kNewestVersion) {
    return failure.set(HALOGEN_E_VERSION,
                       concat("is a big-endian GGUF file of version ", swapped,
                              "; only little-endian files are read, convert the model"));
  }
  return failure.set(HALOGEN_E_VERSION,
                     concat("GGUF version ", version, " is not known; versions 2 and 3 are read"));
}

bool read_key(ByteCursor& cursor, std::string& key, Failure& failure) {
  if (!read_string(cursor, kMaxKeyBytes, key, failure)) return failure.within("name");
  if (key.empty()) return failure.set(HALOGEN_E_INVALID, "is an empty text");
  if (!is_utf8(key)) return failure.set(HALOGEN_E_INVALID, concat(in_quotes(key), " is not UTF-8"));
  if (key.find('\0') != std::string::npos) {
    return failure.set(HALOGEN_E_INVALID, concat(in_quotes(key), " contains a NUL"));
  }
  return true;
}

bool keys_are_unique(const std::vector<KeyValue>& metadata, Failure& failure) {
  std::vector<std::string_view> keys;
  keys.reserve(metadata.size());
  for (const KeyValue& entry : metadata) keys.emplace_back(entry.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return true;
  return failure.set(HALOGEN_E_INVALID, concat("key ", in_quotes(*twice), " is there twice"));
}

bool read_metadata(ByteCursor& cursor, uint64_t count, std::vector<KeyValue>& metadata,
                   Failure& failure) {
  if (!cursor.expect_many(count, kLeastEntryBytes, "keys", failure)) {
    return failure.within("header");
  }
  for (uint64_t i = 0; i < count; i++) {
    KeyValue& entry = metadata.emplace_back();
    if (!read_key(cursor, entry.key, failure)) return failure.within(concat("key ", i));
    if (!read_value(cursor, entry.value, failure)) {
      return failure.within(concat("key ", in_quotes(entry.key)));
    }
  }
  return keys_are_unique(metadata, failure);
}

bool find_alignment(const std::vector<KeyValue>& metadata, uint64_t& alignment, Failure& failure) {
  alignment = kDefaultAlignment;
  const Value* value = find_value(metadata, "general.alignment");
  if (!value) return true;
  const std::optional<uint64_t> number = value->is_array ? std::nullopt : value->unsigned_at(0);
  if (!number) {
    return failure.set(HALOGEN_E_INVALID, concat("key 'general.alignment': is of type ",
                                                 value->description(), ", not an integer"));
  }
  if (*number < kLeastAlignment || *number > kMaxAlignment || (*number & (*number - 1)) != 0) {
    return failure.set(HALOGEN_E_INVALID,
                       concat("key 'general.alignment': ", *number, " is no power of two from ",
                              kLeastAlignment, " to ", kMaxAlignment));
  }
  alignment = *number;
  return true;
}

// The padding is zeros; anything else means that the table is longer than the header says.
bool check_padding(ByteCursor& cursor, uint64_t data_begin, Failure& failure) {
  while (cursor.position() < data_begin) {
    char byte = 0;
    if (!cursor.number(byte, failure)) return failure.within("padding before the tensors' data");
    if (byte != 0) {
      return failure.set(
          HALOGEN_E_INVALID,
          concat("byte ", cursor.position() - 1, " between the tensor table and the ",
                 "data is not 0; the header's number of tensors or general.alignment is wrong"));
    }
  }
  return true;
}

bool read_sections(ByteCursor& cursor, GgufFile& file, Failure& failure) {
  uint32_t magic = 0;  // checked before
  uint64_t tensors = 0;
  uint64_t keys = 0;
  if (!cursor.number(magic, failure) || !cursor.number(file.version, failure) ||
      !check_version(file.version, failure) || !cursor.number(tensors, failure) ||
      !cursor.number(keys, failure)) {
    return failure.within("header");
  }
  uint64_t alignment = 0;
  if (!read_metadata(cursor, keys, file.metadata, failure) ||
      !find_alignment(file.metadata, alignment, failure) ||
      !read_tensor_table(cursor, tensors, file.tensors, failure) ||
      !names_are_unique(file.tensors, failure)) {
    return false;
  }
  file.data_begin = (cursor.position() + alignment - 1) / alignment * alignment;
  if (file.tensors.empty()) return true;  // a vocabulary; it may end without padding
  return check_padding(cursor, file.data_begin, failure) &&
         place_tensors(file.tensors, file.data_begin, alignment, file.bytes, failure);
}

}  // namespace

bool has_gguf_magic(const void* first_bytes, size_t size) {
  return size >= kMagic.size() && std::memcmp(first_bytes, kMagic.data(), kMagic.size()) == 0;
}

bool read_gguf_file(const std::string& path, GgufFile& file, Failure& failure) {
  file = {};
  ReadOnlyFile input;
  if (!input.open(path, failure) || !check_magic(input, failure)) return failure.within(path);
  file.bytes = input.size();
  ByteCursor cursor(input);
  return read_sections(cursor, file, failure) || failure.within(path);
}

}  // namespace halogen::gguf
