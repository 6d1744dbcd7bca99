#include "core/check/loader/describe.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include <sys/stat.h>

namespace halogen::check {
namespace {

struct Range {
  uint32_t file;
  uint64_t begin, end;
  const char* name;
};

std::vector<uint64_t> check_files(const halogen_loader_factory& loader, const halogen_model* model,
                                  Findings& findings) {
  std::vector<uint64_t> sizes;
  const uint32_t count = loader.file_count(model);
  findings.expect(count > 0 && count < 100000, "there are " + std::to_string(count) + " files");
  for (uint32_t i = 0; i < count && !findings.failed(); i++) {
    const char* path = loader.file_path(model, i);
    struct stat status{};
    if (!findings.expect(path && path[0], "file " + std::to_string(i) + " has no path")) break;
    findings.expect(::stat(path, &status) == 0 && S_ISREG(status.st_mode),
                    "file " + std::to_string(i) + ", " + path + ", is not there");
    sizes.push_back(static_cast<uint64_t>(status.st_size));
  }
  return sizes;
}

// The bytes of the shape in its type; 0 where that is not possible.
uint64_t bytes_of(const halogen_tensor& tensor) {
  uint64_t bytes =
      halogen_row_bytes(tensor.type, static_cast<uint64_t>(tensor.dims[tensor.n_dims - 1]));
  for (uint32_t d = 0; d + 1 < tensor.n_dims; d++)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.dims[d]), &bytes)) return 0;
  return bytes;
}

void check_tensor(const halogen_tensor* tensor, const std::string& which,
                  const std::vector<uint64_t>& sizes, Findings& findings) {
  if (!findings.expect(tensor != nullptr, which + " is null")) return;
  if (!findings.expect(HALOGEN_HAS(tensor, bytes), which + " is shorter than in ABI 1.0")) return;
  if (!findings.expect(tensor->name && tensor->name[0], which + " has no name")) return;
  const std::string name = which + " '" + tensor->name + "'";
  findings.expect(tensor->role && tensor->role[0], name + " has no role");
  if (!findings.expect(tensor->n_dims > 0 && tensor->n_dims <= HALOGEN_MAX_DIMS,
                       name + " has " + std::to_string(tensor->n_dims) + " dimensions"))
    return;
  for (uint32_t d = 0; d < tensor->n_dims; d++)
    findings.expect(tensor->dims[d] > 0,
                    name + " has the dimension " + std::to_string(tensor->dims[d]));
  findings.expect(halogen_type_find(tensor->type) != nullptr,
                  name + " has the unknown type " + std::to_string(tensor->type));
  if (findings.failed()) return;
  findings.expect(tensor->bytes == bytes_of(*tensor),
                  name + " says " + std::to_string(tensor->bytes) +
                      " bytes where its shape and type need " + std::to_string(bytes_of(*tensor)));
  if (!findings.expect(tensor->file < sizes.size(), name + " lies in no file")) return;
  findings.expect(
      tensor->bytes <= sizes[tensor->file] && tensor->offset <= sizes[tensor->file] - tensor->bytes,
      name + " reaches beyond the end of its file");
}

void check_tensors(const halogen_loader_factory& loader, const halogen_model* model,
                   const std::vector<uint64_t>& sizes, Findings& findings) {
  std::set<std::string> names;
  std::vector<Range> ranges;
  const uint32_t count = loader.tensor_count(model);
  for (uint32_t i = 0; i < count && !findings.failed(); i++) {
    const halogen_tensor* tensor = loader.tensor_at(model, i);
    check_tensor(tensor, "tensor " + std::to_string(i), sizes, findings);
    if (findings.failed()) return;
    findings.expect(names.insert(tensor->name).second,
                    "two tensors are called '" + std::string(tensor->name) + "'");
    ranges.push_back({tensor->file, tensor->offset, tensor->offset + tensor->bytes, tensor->name});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::pair(a.file, a.begin) < std::pair(b.file, b.begin);
  });
  for (size_t i = 1; i < ranges.size(); i++)
    findings.expect(ranges[i - 1].file != ranges[i].file || ranges[i - 1].end <= ranges[i].begin,
                    std::string("the tensors '") + ranges[i - 1].name + "' and '" + ranges[i].name +
                        "' share bytes");
}

// Bytes of an element; 0: a string, or no type.
size_t element_bytes(halogen_metadata_type type) {
  static constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type >= HALOGEN_META_U8 && type <= HALOGEN_META_F64 ? kBytes[type] : 0;
}

void check_strings(const halogen_metadata& entry, const std::string& name, Findings& findings) {
  if (!findings.expect(entry.offsets != nullptr, name + " has strings without offsets")) return;
  size_t length = 0;
  for (uint64_t i = 0; i < entry.count && !findings.failed(); i++) {
    findings.expect(entry.offsets[i] <= entry.offsets[i + 1],
                    name + " has string " + std::to_string(i) + " end before it begins");
    length = entry.offsets[i + 1];
  }
  // Reads every byte: one that is not there is a crash, or a sanitizer's finding.
  unsigned sum = 0;
  for (size_t i = 0; i < length && entry.text && !findings.failed(); i++)
    sum += static_cast<unsigned char>(entry.text[i]);
  findings.expect(length == 0 || entry.text, name + " has strings without text");
  volatile unsigned used = sum;
  (void)used;
}

void check_entry(const halogen_metadata* entry, const std::string& which, Findings& findings) {
  if (!findings.expect(entry != nullptr, which + " is null")) return;
  if (!findings.expect(HALOGEN_HAS(entry, offsets), which + " is shorter than in ABI 1.0")) return;
  if (!findings.expect(entry->key && entry->key[0], which + " has no key")) return;
  const std::string name = which + " '" + entry->key + "'";
  findings.expect(entry->is_array || entry->count == 1,
                  name + " is a scalar of " + std::to_string(entry->count));
  if (entry->type == HALOGEN_META_STRING) return check_strings(*entry, name, findings);
  const size_t size = element_bytes(entry->type);
  if (!findings.expect(size > 0, name + " has the unknown type " + std::to_string(entry->type)))
    return;
  if (entry->count == 0) return;
  if (!findings.expect(entry->data != nullptr, name + " has no data")) return;
  findings.expect(reinterpret_cast<uintptr_t>(entry->data) % size == 0,
                  name + " has data that is not aligned");
  const auto* bytes = static_cast<const unsigned char*>(entry->data);
  unsigned sum = 0;
  for (uint64_t i = 0; i < entry->count * size; i++) sum += bytes[i];
  volatile unsigned used = sum;
  (void)used;
}

void check_metadata(const halogen_loader_factory& loader, const halogen_model* model,
                    Findings& findings) {
  std::set<std::string> keys;
  bool own_began = false;
  const uint32_t count = loader.metadata_count(model);
  for (uint32_t i = 0; i < count && !findings.failed(); i++) {
    const halogen_metadata* entry = loader.metadata_at(model, i);
    check_entry(entry, "metadata " + std::to_string(i), findings);
    if (findings.failed()) return;
    const std::string key = entry->key;
    const bool normalised = key.starts_with("halogen.");
    findings.expect(!normalised || !own_began,
                    "the normalised key '" + key + "' comes after the file's own keys");
    own_began = own_began || !normalised;
    findings.expect(keys.insert(key).second, "two entries have the key '" + key + "'");
    const halogen_metadata* found = loader.metadata_find(model, entry->key);
    findings.expect(found && key == found->key, "metadata_find does not find '" + key + "'");
  }
  findings.expect(loader.metadata_find(model, "halogen.no.such.key") == nullptr,
                  "metadata_find finds a key that is not there");
}

}  // namespace

void check_description(const halogen_loader_factory& loader, const halogen_model* model,
                       Findings& findings) {
  const std::vector<uint64_t> sizes = check_files(loader, model, findings);
  if (!findings.failed()) check_tensors(loader, model, sizes, findings);
  if (!findings.failed()) check_metadata(loader, model, findings);
}

}  // namespace halogen::check
