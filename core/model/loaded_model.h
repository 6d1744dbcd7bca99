// A model file opened by a loader plugin: typed access to what the loader describes, with errors
// that name the file and the key. Reads no tensor bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "halogen/loader.h"

#include "core/base/result.h"

namespace halogen {

class LoadedModel {
 public:
  // [worker] Opens `path` with the loader; `config` as halogen/loader.h says.
  static Result<LoadedModel> open(const halogen_loader_factory& loader, const std::string& path,
                                  const halogen_config* config);
  LoadedModel(LoadedModel&& other) noexcept;
  LoadedModel& operator=(LoadedModel&&) = delete;
  ~LoadedModel();

  const std::string& path() const { return path_; }

  // Scalars under a key; absent is an empty optional, another type is an error. Integers of any
  // width and sign convert where the value fits.
  Result<std::optional<int64_t>> integer(std::string_view key) const;
  Result<std::optional<double>> number(std::string_view key) const;
  Result<std::optional<bool>> boolean(std::string_view key) const;
  Result<std::optional<std::string>> text(std::string_view key) const;

  // Arrays; an absent key is an empty array.
  Result<std::vector<std::string>> texts(std::string_view key) const;
  Result<std::vector<float>> floats(std::string_view key) const;
  Result<std::vector<int32_t>> integers(std::string_view key) const;

  const halogen_metadata* find(std::string_view key) const;

  // The tensor that plays a role ("layers.3.attention.q.weight"), or null.
  const halogen_tensor* tensor(std::string_view role) const;
  uint32_t tensor_count() const { return loader_->tensor_count(model_); }
  const halogen_tensor& tensor_at(uint32_t index) const {
    return *loader_->tensor_at(model_, index);
  }

  uint32_t file_count() const { return loader_->file_count(model_); }
  const char* file_path(uint32_t index) const { return loader_->file_path(model_, index); }

 private:
  LoadedModel(const halogen_loader_factory& loader, halogen_model* model, std::string path);
  Error wrong_type(const halogen_metadata& entry, const char* wanted) const;

  const halogen_loader_factory* loader_;
  halogen_model* model_;
  std::string path_;
  std::unordered_map<std::string_view, const halogen_tensor*> by_role_;
};

}  // namespace halogen
