// From a loaded file to an operator graph: what a family's builder works with, and the list of
// families.
//
// Adding a family is one small file in families/ that adds its operators in order, and a row in the
// table of model_graph.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/model/hyperparameters.h"
#include "core/model/loaded_model.h"

namespace halogen {

struct ModelGraph {
  Hyperparameters hyperparameters;
  Graph graph;
  std::vector<const halogen_tensor*>
      tensors;                      // [graph.table().n_weights]: where each weight's bytes lie
  std::vector<std::string> unused;  // names of the file's tensors that no operator reads
};

// [worker] Builds the graph of the file's architecture. An unknown architecture is an error that
// names the nearest known one; a tensor that is missing or has another shape is an error that names
// it.
Result<ModelGraph> build_model_graph(const LoadedModel& model);

// Architectures that build_model_graph knows, in alphabetical order.
std::vector<std::string> known_architectures();

// A GraphBuilder over a file's tensors.
class ModelBuilder {
 public:
  using Value = GraphBuilder::Value;

  ModelBuilder(const LoadedModel& model, const Hyperparameters& hyperparameters)
      : graph(hyperparameters.vocabulary_size, hyperparameters.hidden_size), model_(model) {}

  // The tensor that plays `role`, as a weight; it must have exactly these dimensions.
  Value weight(const std::string& role, const std::vector<int64_t>& dims);
  // The same, or HALOGEN_NO_VALUE where the file has no such tensor.
  Value optional_weight(const std::string& role, const std::vector<int64_t>& dims);

  // The graph and its tensors, or the first error.
  Result<ModelGraph> finish(const Hyperparameters& hyperparameters);

  GraphBuilder graph;

 private:
  const LoadedModel& model_;
  std::vector<const halogen_tensor*> tensors_;
  std::optional<Error> error_;
};

// What a family's file provides.
using BuildFamily = void (*)(ModelBuilder& builder, const Hyperparameters& hyperparameters);

void build_llama(ModelBuilder& builder, const Hyperparameters& hyperparameters);
void build_qwen2(ModelBuilder& builder, const Hyperparameters& hyperparameters);
void build_qwen3(ModelBuilder& builder, const Hyperparameters& hyperparameters);

}  // namespace halogen
