#include "plugins/gguf/tensor_table.h"

#include <algorithm>
#include <string_view>

#include "plugins/gguf/text.h"
#include "plugins/gguf/value_reader.h"

namespace halogen::gguf {
namespace {

// The format says 64; some writers go beyond.
constexpr uint64_t kMaxNameBytes = 1024;

// Name length, one byte of name, rank, one dimension, type, offset.
constexpr uint64_t kLeastEntryBytes = 8 + 1 + 4 + 8 + 4 + 8;

bool read_name(ByteCursor& cursor, std::string& name, Failure& failure) {
  if (!read_string(cursor, kMaxNameBytes, name, failure)) return failure.within("name");
  if (name.empty()) return failure.set(HALOGEN_E_INVALID, "has an empty name");
  if (!is_utf8(name)) {
    return failure.set(HALOGEN_E_INVALID, concat("name ", in_quotes(name), " is not UTF-8"));
  }
  if (name.find('\0') != std::string::npos) {
    return failure.set(HALOGEN_E_INVALID, concat("name ", in_quotes(name), " contains a NUL"));
  }
  return true;
}

bool read_shape(ByteCursor& cursor, Tensor& tensor, Failure& failure) {
  if (!cursor.number(tensor.rank, failure)) return failure.within("number of dimensions");
  if (tensor.rank == 0 || tensor.rank > kMaxTensorRank) {
    return failure.set(HALOGEN_E_INVALID,
                       concat("has ", tensor.rank, " dimensions, not 1 to ", kMaxTensorRank));
  }
  for (uint32_t i = 0; i < tensor.rank; i++) {
    if (!cursor.number(tensor.shape[i], failure)) return failure.within("dimensions");
    if (tensor.shape[i] == 0) {
      return failure.set(HALOGEN_E_INVALID, concat("dimension ", i, " is 0"));
    }
  }
  return true;
}

// Types 4, 5, 31 to 33 and 36 to 38 had a meaning once.
bool is_removed_type(halogen_type type) {
  return type == 4 || type == 5 || (type >= 31 && type <= 33) || (type >= 36 && type <= 38);
}

bool check_type(const Tensor& tensor, Failure& failure) {
  if (halogen_type_find(tensor.type)) return true;
  if (is_removed_type(tensor.type)) {
    return failure.set(HALOGEN_E_UNSUPPORTED,
                       concat("has type ", tensor.type,
                              ", which was removed from the format; convert the model anew"));
  }
  return failure.set(HALOGEN_E_UNSUPPORTED,
                     concat("has type ", tensor.type, ", which this version does not know"));
}

bool find_bytes(Tensor& tensor, Failure& failure) {
  const halogen_type_traits& traits = *halogen_type_find(tensor.type);
  const uint64_t row = tensor.shape[0];
  if (row % traits.block_elements != 0) {
    return failure.set(HALOGEN_E_INVALID,
                       concat("has rows of ", row, " elements, but ", traits.name,
                              " has blocks of ", traits.block_elements));
  }
  bool overflows = __builtin_mul_overflow(row / traits.block_elements, uint64_t{traits.block_bytes},
                                          &tensor.bytes);
  for (uint32_t i = 1; i < tensor.rank && !overflows; i++) {
    overflows = __builtin_mul_overflow(tensor.bytes, tensor.shape[i], &tensor.bytes);
  }
  // Everything is multiplied, so that a huge dimension is found whatever the others are; the
  // elements can overflow only where there are fewer bytes than elements.
  uint64_t elements = 1;
  for (uint32_t i = 0; i < tensor.rank && !overflows; i++) {
    overflows = __builtin_mul_overflow(elements, tensor.shape[i], &elements);
  }
  if (!overflows) return true;
  return failure.set(HALOGEN_E_INVALID, "has dimensions whose product does not fit 64 bits");
}

bool read_entry(ByteCursor& cursor, Tensor& tensor, Failure& failure) {
  if (!read_shape(cursor, tensor, failure)) return false;
  if (!cursor.number(tensor.type, failure)) return failure.within("type");
  if (!cursor.number(tensor.offset, failure)) return failure.within("offset");
  return check_type(tensor, failure) && find_bytes(tensor, failure);
}

bool place(Tensor& tensor, uint64_t data_begin, uint64_t alignment, uint64_t file_bytes,
           Failure& failure) {
  if (tensor.offset % alignment != 0) {
    return failure.set(HALOGEN_E_INVALID, concat("offset ", tensor.offset,
                                                 " is no multiple of the alignment ", alignment));
  }
  const uint64_t data_bytes = file_bytes > data_begin ? file_bytes - data_begin : 0;
  if (tensor.offset > data_bytes || tensor.bytes > data_bytes - tensor.offset) {
    return failure.set(
        HALOGEN_E_INVALID,
        concat("offset ", tensor.offset, " with ", tensor.bytes, " bytes is beyond the ",
               data_bytes, " bytes of data in the file; it is damaged or incomplete"));
  }
  tensor.offset += data_begin;
  return true;
}

bool check_overlap(const std::vector<Tensor>& tensors, Failure& failure) {
  std::vector<const Tensor*> by_offset;
  by_offset.reserve(tensors.size());
  for (const Tensor& tensor : tensors) by_offset.push_back(&tensor);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const Tensor* a, const Tensor* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < by_offset.size(); i++) {
    const Tensor& before = *by_offset[i - 1];
    const Tensor& after = *by_offset[i];
    if (after.offset - before.offset < before.bytes) {
      return failure.set(HALOGEN_E_INVALID,
                         concat("tensor ", in_quotes(after.name), " at byte ", after.offset,
                                " begins inside tensor ", in_quotes(before.name), " (",
                                before.bytes, " bytes from byte ", before.offset, ")"));
    }
  }
  return true;
}

}  // namespace

bool read_tensor_table(ByteCursor& cursor, uint64_t count, std::vector<Tensor>& tensors,
                       Failure& failure) {
  if (!cursor.expect_many(count, kLeastEntryBytes, "tensors", failure)) {
    return failure.within("tensor table");
  }
  for (uint64_t i = 0; i < count; i++) {
    Tensor& tensor = tensors.emplace_back();
    if (!read_name(cursor, tensor.name, failure)) return failure.within(concat("tensor ", i));
    if (!read_entry(cursor, tensor, failure)) {
      return failure.within(concat("tensor ", in_quotes(tensor.name)));
    }
  }
  return true;
}

bool place_tensors(std::vector<Tensor>& tensors, uint64_t data_begin, uint64_t alignment,
                   uint64_t file_bytes, Failure& failure) {
  for (Tensor& tensor : tensors) {
    if (!place(tensor, data_begin, alignment, file_bytes, failure)) {
      return failure.within(concat("tensor ", in_quotes(tensor.name)));
    }
  }
  return check_overlap(tensors, failure);
}

bool names_are_unique(const std::vector<Tensor>& tensors, Failure& failure) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const Tensor& tensor : tensors) names.emplace_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return true;
  return failure.set(HALOGEN_E_INVALID,
                     concat("tensor ", in_quotes(*twice), " is in the table twice"));
}

}  // namespace halogen::gguf
