// The GGUF loader's frame: the calls of halogen/loader.h over the parser.
#include "halogen/cxx/plugin.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "halogen/loader.h"

#include "plugins/gguf/gguf_file.h"
#include "plugins/gguf/gguf_metadata.h"
#include "plugins/gguf/gguf_model.h"
#include "plugins/gguf/tensor_names.h"

using halogen::gguf::Failure;
using halogen::gguf::GgufModel;
using halogen::gguf::KeyValue;
using halogen::gguf::NormalisedMetadata;
using halogen::gguf::Tensor;
using halogen::gguf::Value;
using halogen::gguf::ValueType;

// The parsed file and the C structs that describe it.
struct halogen_model {
  GgufModel file;
  NormalisedMetadata normalised;
  std::vector<halogen_metadata> metadata;
  std::unordered_map<std::string_view, const halogen_metadata*> by_key;
  std::vector<std::string> roles;  // [tensors]
  std::vector<halogen_tensor> tensors;
};

namespace {

halogen::Host host;

halogen_metadata describe(const std::string& key, const Value& value) {
  halogen_metadata entry{};
  entry.struct_size = sizeof entry;
  entry.type =
      static_cast<halogen_metadata_type>(value.type);  // the SDK's numbers are the format's
  entry.is_array = value.is_array;
  entry.key = key.c_str();
  entry.count = value.count;
  if (value.type == ValueType::string) {
    entry.text = reinterpret_cast<const char*>(value.bytes.data());
    entry.offsets = value.offsets.data();
  } else {
    entry.data = value.bytes.data();
  }
  return entry;
}

halogen_tensor describe(const Tensor& tensor, const std::string& role) {
  halogen_tensor entry{};
  entry.struct_size = sizeof entry;
  entry.type = tensor.type;
  entry.n_dims = tensor.rank;
  for (uint32_t d = 0; d < tensor.rank; d++) {
    entry.dims[d] = static_cast<int64_t>(tensor.shape[tensor.rank - 1 - d]);  // outermost first
  }
  entry.name = tensor.name.c_str();
  entry.role = role.empty() ? tensor.name.c_str() : role.c_str();
  entry.file = tensor.file;
  entry.offset = tensor.offset;
  entry.bytes = tensor.bytes;
  return entry;
}

void describe_all(halogen_model& model) {
  for (const NormalisedMetadata::Entry& entry : model.normalised.entries()) {
    model.metadata.push_back(describe(entry.key, *entry.value));
  }
  for (const KeyValue& entry : model.file.metadata) {
    model.metadata.push_back(describe(entry.key, entry.value));
  }
  for (const halogen_metadata& entry : model.metadata) model.by_key.emplace(entry.key, &entry);
  for (const Tensor& tensor : model.file.tensors) {
    model.roles.push_back(halogen::gguf::normalised_tensor_name(tensor.name));
  }
  for (size_t i = 0; i < model.file.tensors.size(); i++) {
    model.tensors.push_back(describe(model.file.tensors[i], model.roles[i]));
  }
}

uint32_t probe(const char* /*path*/, const uint8_t* first, size_t n_first) {
  return halogen::gguf::has_gguf_magic(first, n_first) ? 100 : 0;
}

halogen_status open(const char* path, const halogen_config* /*config*/, halogen_model** model,
                    halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    auto opened = std::make_unique<halogen_model>();
    Failure failure;
    if (!halogen::gguf::open_gguf_model(path, opened->file, failure) ||
        !halogen::gguf::normalise_metadata(opened->file, opened->normalised, failure)) {
      return halogen::failed(error, failure.status, failure.message);
    }
    describe_all(*opened);
    *model = opened.release();
    return HALOGEN_OK;
  });
}

void close(halogen_model* model) {
  delete model;
}

uint32_t file_count(const halogen_model* model) {
  return static_cast<uint32_t>(model->file.files.size());
}

const char* file_path(const halogen_model* model, uint32_t index) {
  return model->file.files[index].c_str();
}

uint32_t metadata_count(const halogen_model* model) {
  return static_cast<uint32_t>(model->metadata.size());
}

const halogen_metadata* metadata_at(const halogen_model* model, uint32_t index) {
  return index < model->metadata.size() ? &model->metadata[index] : nullptr;
}

const halogen_metadata* metadata_find(const halogen_model* model, const char* key) {
  const auto found = model->by_key.find(key);
  return found == model->by_key.end() ? nullptr : found->second;
}

uint32_t tensor_count(const halogen_model* model) {
  return static_cast<uint32_t>(model->tensors.size());
}

const halogen_tensor* tensor_at(const halogen_model* model, uint32_t index) {
  return index < model->tensors.size() ? &model->tensors[index] : nullptr;
}

const halogen_loader_factory kFactory = {
    .struct_size = sizeof(halogen_loader_factory),
    .name = "gguf",
    .n_config_keys = 0,
    .config_keys = nullptr,
    .probe = probe,
    .open = open,
    .close = close,
    .file_count = file_count,
    .file_path = file_path,
    .metadata_count = metadata_count,
    .metadata_at = metadata_at,
    .metadata_find = metadata_find,
    .tensor_count = tensor_count,
    .tensor_at = tensor_at,
};

halogen_status init(halogen_error* /*error*/) {
  return HALOGEN_OK;
}
void deinit() {}

const void* get_factory(const char* kind) {
  return std::strcmp(kind, HALOGEN_LOADER_KIND) == 0 ? &kFactory : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.halogen.gguf", "GGUF loader", "0.1.0", "Apache-2.0", host, init, deinit,
                      get_factory);
