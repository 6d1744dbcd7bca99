#include "plugins/gguf/gguf_model.h"

#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

#include "plugins/gguf/gguf_file.h"
#include "plugins/gguf/text.h"

namespace halogen::gguf {
namespace {

constexpr uint64_t kMaxParts = 99999;  // the names have five digits

struct Split {
  uint64_t part = 0;  // from 0, as in the file; the names count from 1
  uint64_t parts = 1;
  uint64_t tensors = 0;  // of all parts
};

// "NAME-00002-of-00003.gguf" taken apart: prefix "NAME", part 1, parts 3.
struct PartName {
  std::string prefix;
  uint64_t part = 0;
  uint64_t parts = 0;
};

std::optional<uint64_t> five_digits(std::string_view text) {
  uint64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(digit - '0');
  }
  return number;
}

std::optional<PartName> take_apart(std::string_view path) {
  constexpr std::string_view kPattern = "-00000-of-00000.gguf";
  if (path.size() < kPattern.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kPattern.size());
  const std::optional<uint64_t> number = five_digits(tail.substr(1, 5));
  const std::optional<uint64_t> parts = five_digits(tail.substr(10, 5));
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || tail.substr(15) != ".gguf" || !number ||
      !parts || *number == 0) {
    return std::nullopt;
  }
  return PartName{std::string(path.substr(0, path.size() - kPattern.size())), *number - 1, *parts};
}

std::string part_path(const std::string& prefix, uint64_t part, uint64_t parts) {
  char tail[64];
  std::snprintf(tail, sizeof tail, "-%05llu-of-%05llu.gguf",
                static_cast<unsigned long long>(part + 1), static_cast<unsigned long long>(parts));
  return prefix + tail;
}

bool read_split_key(const GgufFile& file, std::string_view key, uint64_t& number,
                    Failure& failure) {
  const Value* value = find_value(file.metadata, key);
  if (!value) return true;
  const std::optional<uint64_t> found = value->is_array ? std::nullopt : value->unsigned_at(0);
  if (!found) {
    return failure.set(HALOGEN_E_INVALID, concat("key ", in_quotes(key), ": is of type ",
                                                 value->description(), ", not a count"));
  }
  number = *found;
  return true;
}

bool read_split(const GgufFile& file, Split& split, Failure& failure) {
  split.tensors = file.tensors.size();
  if (!read_split_key(file, "split.no", split.part, failure) ||
      !read_split_key(file, "split.count", split.parts, failure) ||
      !read_split_key(file, "split.tensors.count", split.tensors, failure)) {
    return false;
  }
  if (split.parts == 0) split.parts = 1;  // some writers say 0 for a whole file
  if (split.parts > kMaxParts || split.part >= split.parts) {
    return failure.set(HALOGEN_E_INVALID,
                       concat("keys 'split.no' and 'split.count': part ", split.part, " of ",
                              split.parts, " parts, counted from 0, makes no sense"));
  }
  return true;
}

// The first file of several must carry the name that the others' names follow from.
bool check_first_part(const std::string& path, const Split& split, std::string& prefix,
                      Failure& failure) {
  const std::optional<PartName> name = take_apart(path);
  if (split.part != 0) {
    const std::string first = name
                                  ? part_path(name->prefix, 0, split.parts)
                                  : concat("the file that ends in ", part_path("", 0, split.parts));
    return failure.set(HALOGEN_E_INVALID, concat("is part ", split.part + 1, " of ", split.parts,
                                                 "; open the first part: ", first));
  }
  if (!name || name->part != 0 || name->parts != split.parts) {
    return failure.set(
        HALOGEN_E_INVALID,
        concat("key 'split.count': is the first of ", split.parts,
               " parts, so its name must end in ", part_path("", 0, split.parts),
               " for the others to be found; rename it and put the other parts beside it"));
  }
  prefix = name->prefix;
  return true;
}

void append_part(GgufFile& file, const std::string& path, GgufModel& model) {
  const auto index = static_cast<uint32_t>(model.files.size());
  for (Tensor& tensor : file.tensors) tensor.file = index;
  model.files.push_back(path);
  std::move(file.tensors.begin(), file.tensors.end(), std::back_inserter(model.tensors));
}

bool check_part(const GgufFile& file, const Split& first, uint64_t part, Failure& failure) {
  Split split;
  if (!read_split(file, split, failure)) return false;
  if (split.part == part && split.parts == first.parts) return true;
  return failure.set(HALOGEN_E_INVALID,
                     concat("says it is part ", split.part + 1, " of ", split.parts,
                            ", but its name says part ", part + 1, " of ", first.parts));
}

bool open_parts(const std::string& prefix, const Split& first, GgufModel& model, Failure& failure) {
  for (uint64_t part = 1; part < first.parts; part++) {
    const std::string path = part_path(prefix, part, first.parts);
    GgufFile file;
    if (!read_gguf_file(path, file, failure)) {
      return failure.within(concat("part ", part + 1, " of ", first.parts));
    }
    if (!check_part(file, first, part, failure)) return failure.within(path);
    append_part(file, path, model);
  }
  if (model.tensors.size() != first.tensors) {
    failure.set(HALOGEN_E_INVALID, concat("key 'split.tensors.count': says ", first.tensors,
                                          " tensors, but the ", first.parts, " parts have ",
                                          model.tensors.size(), "; do they belong together?"));
    return failure.within(model.files[0]);
  }
  return names_are_unique(model.tensors, failure) || failure.within(model.files[0]);
}

}  // namespace

bool open_gguf_model(const std::string& path, GgufModel& model, Failure& failure) {
  model = {};
  GgufFile file;
  Split split;
  if (!read_gguf_file(path, file, failure)) return false;
  if (!read_split(file, split, failure)) return failure.within(path);
  std::string prefix;
  if (split.parts > 1 && !check_first_part(path, split, prefix, failure)) {
    return failure.within(path);
  }
  model.metadata = std::move(file.metadata);
  append_part(file, path, model);
  return split.parts == 1 || open_parts(prefix, split, model, failure);
}

const Tensor* find_tensor(const GgufModel& model, std::string_view name) {
  for (const Tensor& tensor : model.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace halogen::gguf
