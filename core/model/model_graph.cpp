#include "core/model/model_graph.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/nearest.h"
#include "core/base/printable.h"

namespace halogen {
namespace {

struct Family {
  const char* architecture;
  BuildFamily build;
};

// Mistral's files carry the architecture "llama" in GGUF, with a sliding window where the model has
// one.
constexpr Family kFamilies[] = {
    {"llama", build_llama},
    {"mistral", build_llama},
    {"qwen2", build_qwen2},
    {"qwen3", build_qwen3},
};

// "; did you mean …" or the whole list.
std::string suggestion(std::string_view name) {
  const std::vector<std::string> known = known_architectures();
  const std::string_view closest = nearest(name, known);
  std::string text = "; the nearest that is: " + std::string(closest) + "; all:";
  if (closest.empty()) text = "; these are:";
  for (const std::string& candidate : known) text += " " + candidate;
  return text;
}

std::string show(const std::vector<int64_t>& dims) {
  return print_dims(dims.data(), static_cast<uint32_t>(dims.size()));
}

}  // namespace

ModelBuilder::Value ModelBuilder::weight(const std::string& role,
                                         const std::vector<int64_t>& dims) {
  const Value value = optional_weight(role, dims);
  if (value == HALOGEN_NO_VALUE && !error_) {
    error_ = fail(HALOGEN_E_INVALID,
                  model_.path() + ": tensor '" + role + "' " + show(dims) +
                      " is missing; the file is incomplete or of another architecture");
  }
  return value;
}

ModelBuilder::Value ModelBuilder::optional_weight(const std::string& role,
                                                  const std::vector<int64_t>& dims) {
  if (error_) return HALOGEN_NO_VALUE;
  const halogen_tensor* tensor = model_.tensor(role);
  if (!tensor) return HALOGEN_NO_VALUE;
  const std::vector<int64_t> stored(tensor->dims, tensor->dims + tensor->n_dims);
  if (stored != dims) {
    error_ = fail(HALOGEN_E_INVALID, model_.path() + ": tensor '" + tensor->name + "' is " +
                                         show(stored) + ", but the model's metadata asks for " +
                                         show(dims));
    return HALOGEN_NO_VALUE;
  }
  tensors_.push_back(tensor);
  return graph.weight(tensor->role, tensor->type, dims);
}

Result<ModelGraph> ModelBuilder::finish(const Hyperparameters& hyperparameters) {
  if (error_) return *error_;
  auto built = graph.finish();
  if (!built) return within(model_.path(), built.error());

  ModelGraph result{hyperparameters, std::move(*built), std::move(tensors_), {}};
  const std::unordered_set<const halogen_tensor*> used(result.tensors.begin(),
                                                       result.tensors.end());
  for (uint32_t i = 0; i < model_.tensor_count(); i++) {
    if (!used.contains(&model_.tensor_at(i))) result.unused.emplace_back(model_.tensor_at(i).name);
  }
  return result;
}

Result<ModelGraph> build_model_graph(const LoadedModel& model) {
  auto architecture = model.text("halogen.architecture");
  if (!architecture) return architecture.error();
  const std::string name = architecture->value_or("");
  const auto* family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                    [&](const Family& f) { return name == f.architecture; });
  if (family == std::end(kFamilies)) {
    return fail(HALOGEN_E_UNSUPPORTED, model.path() + ": architecture '" + excerpt(name) +
                                           "' is not supported" + suggestion(name));
  }
  auto hyperparameters = read_hyperparameters(model);
  if (!hyperparameters) return hyperparameters.error();
  ModelBuilder builder(model, *hyperparameters);
  family->build(builder, *hyperparameters);
  return builder.finish(*hyperparameters);
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.architecture);
  return names;
}

}  // namespace halogen
