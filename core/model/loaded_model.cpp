#include "core/model/loaded_model.h"

#include <limits>
#include <utility>

#include "core/base/call_plugin.h"

namespace halogen {
namespace {

// Element `index` of a numeric entry as T; false where the entry is no number.
template <typename T>
bool element(const halogen_metadata& entry, uint64_t index, T& out) {
  const auto read = [&](const auto* typed) { out = static_cast<T>(typed[index]); };
  switch (entry.type) {
    case HALOGEN_META_U8:
    case HALOGEN_META_BOOL:
      read(static_cast<const uint8_t*>(entry.data));
      return true;
    case HALOGEN_META_I8:
      read(static_cast<const int8_t*>(entry.data));
      return true;
    case HALOGEN_META_U16:
      read(static_cast<const uint16_t*>(entry.data));
      return true;
    case HALOGEN_META_I16:
      read(static_cast<const int16_t*>(entry.data));
      return true;
    case HALOGEN_META_U32:
      read(static_cast<const uint32_t*>(entry.data));
      return true;
    case HALOGEN_META_I32:
      read(static_cast<const int32_t*>(entry.data));
      return true;
    case HALOGEN_META_U64:
      read(static_cast<const uint64_t*>(entry.data));
      return true;
    case HALOGEN_META_I64:
      read(static_cast<const int64_t*>(entry.data));
      return true;
    case HALOGEN_META_F32:
      read(static_cast<const float*>(entry.data));
      return true;
    case HALOGEN_META_F64:
      read(static_cast<const double*>(entry.data));
      return true;
    default:
      return false;
  }
}

bool is_integer(const halogen_metadata& entry) {
  switch (entry.type) {
    case HALOGEN_META_F32:
    case HALOGEN_META_F64:
    case HALOGEN_META_BOOL:
    case HALOGEN_META_STRING:
      return false;
    default:
      return true;
  }
}

bool is_number(const halogen_metadata& entry) {
  return is_integer(entry) || entry.type == HALOGEN_META_F32 || entry.type == HALOGEN_META_F64;
}

// Whether the entry's integer at `index` fits an int64_t.
bool fits(const halogen_metadata& entry, uint64_t index) {
  return entry.type != HALOGEN_META_U64 || static_cast<const uint64_t*>(entry.data)[index] <=
                                               uint64_t{std::numeric_limits<int64_t>::max()};
}

}  // namespace

Result<LoadedModel> LoadedModel::open(const halogen_loader_factory& loader, const std::string& path,
                                      const halogen_config* config) {
  halogen_model* model = nullptr;
  if (Status status = call_plugin(
          [&](halogen_error* error) { return loader.open(path.c_str(), config, &model, error); });
      !status) {
    return status.error();
  }
  return LoadedModel(loader, model, path);
}

LoadedModel::LoadedModel(const halogen_loader_factory& loader, halogen_model* model,
                         std::string path)
    : loader_(&loader), model_(model), path_(std::move(path)) {
  for (uint32_t i = 0; i < tensor_count(); i++) {
    const halogen_tensor& tensor = tensor_at(i);
    by_role_.emplace(tensor.role, &tensor);
  }
}

LoadedModel::LoadedModel(LoadedModel&& other) noexcept
    : loader_(other.loader_),
      model_(std::exchange(other.model_, nullptr)),
      path_(std::move(other.path_)),
      by_role_(std::move(other.by_role_)) {}

LoadedModel::~LoadedModel() {
  if (model_) loader_->close(model_);
}

const halogen_metadata* LoadedModel::find(std::string_view key) const {
  return loader_->metadata_find(model_, std::string(key).c_str());
}

const halogen_tensor* LoadedModel::tensor(std::string_view role) const {
  const auto found = by_role_.find(role);
  return found == by_role_.end() ? nullptr : found->second;
}

Error LoadedModel::wrong_type(const halogen_metadata& entry, const char* wanted) const {
  return fail(HALOGEN_E_INVALID, path_ + ": metadata key '" + entry.key + "' is not " + wanted);
}

Result<std::optional<int64_t>> LoadedModel::integer(std::string_view key) const {
  const halogen_metadata* entry = find(key);
  if (!entry) return std::optional<int64_t>{};
  int64_t value = 0;
  if (entry->count != 1 || entry->is_array || !is_integer(*entry) || !fits(*entry, 0) ||
      !element(*entry, 0, value)) {
    return wrong_type(*entry, "an integer");
  }
  return std::optional<int64_t>(value);
}

Result<std::optional<double>> LoadedModel::number(std::string_view key) const {
  const halogen_metadata* entry = find(key);
  if (!entry) return std::optional<double>{};
  double value = 0;
  if (entry->count != 1 || entry->is_array || !is_number(*entry) || !element(*entry, 0, value)) {
    return wrong_type(*entry, "a number");
  }
  return std::optional<double>(value);
}

Result<std::optional<bool>> LoadedModel::boolean(std::string_view key) const {
  const halogen_metadata* entry = find(key);
  if (!entry) return std::optional<bool>{};
  if (entry->count != 1 || entry->is_array || entry->type != HALOGEN_META_BOOL) {
    return wrong_type(*entry, "a boolean");
  }
  return std::optional<bool>(*static_cast<const uint8_t*>(entry->data) != 0);
}

Result<std::optional<std::string>> LoadedModel::text(std::string_view key) const {
  const halogen_metadata* entry = find(key);
  if (!entry) return std::optional<std::string>{};
  if (entry->count != 1 || entry->is_array || entry->type != HALOGEN_META_STRING) {
    return wrong_type(*entry, "a string");
  }
  return std::optional<std::string>(
      std::string(entry->text + entry->offsets[0], entry->offsets[1] - entry->offsets[0]));
}

Result<std::vector<std::string>> LoadedModel::texts(std::string_view key) const {
  std::vector<std::string> values;
  const halogen_metadata* entry = find(key);
  if (!entry) return values;
  if (!entry->is_array || entry->type != HALOGEN_META_STRING) {
    return wrong_type(*entry, "an array of strings");
  }
  values.reserve(entry->count);
  for (uint64_t i = 0; i < entry->count; i++) {
    values.emplace_back(entry->text + entry->offsets[i], entry->offsets[i + 1] - entry->offsets[i]);
  }
  return values;
}

Result<std::vector<float>> LoadedModel::floats(std::string_view key) const {
  std::vector<float> values;
  const halogen_metadata* entry = find(key);
  if (!entry) return values;
  if (!entry->is_array || !is_number(*entry)) return wrong_type(*entry, "an array of numbers");
  values.resize(entry->count);
  for (uint64_t i = 0; i < entry->count; i++) element(*entry, i, values[i]);
  return values;
}

Result<std::vector<int32_t>> LoadedModel::integers(std::string_view key) const {
  std::vector<int32_t> values;
  const halogen_metadata* entry = find(key);
  if (!entry) return values;
  if (!entry->is_array || !is_integer(*entry)) return wrong_type(*entry, "an array of integers");
  values.resize(entry->count);
  for (uint64_t i = 0; i < entry->count; i++) {
    int64_t value = 0;
    element(*entry, i, value);
    if (!fits(*entry, i) || value < std::numeric_limits<int32_t>::min() ||
        value > std::numeric_limits<int32_t>::max()) {
      return wrong_type(*entry, "an array of 32-bit integers");
    }
    values[i] = static_cast<int32_t>(value);
  }
  return values;
}

}  // namespace halogen
