// A model that is ready to serve: the plugins that the profile names, the loaded file, the compiled
// program and the memory it runs in. Everything that belongs together is made in order and
// destroyed in reverse.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/profile.h"
#include "core/engine/engine.h"
#include "core/graph/ledger.h"
#include "core/host/registry.h"
#include "core/model/model_graph.h"
#include "core/model/weight_store.h"
#include "core/serve/host_arena.h"
#include "core/serve/memory_plan.h"
#include "core/text/template/chat_template.h"
#include "core/text/token_search.h"
#include "core/text/tokenizer.h"

namespace halogen {

// What loading is doing: a stage ("reading weights") and how far it is, 0 to 1. False cancels.
using ServeProgress = std::function<bool(const char* stage, double fraction)>;

// What serving a model would take, known from its file and its backend before a weight is read.
struct ModelNeeds {
  Hyperparameters hyperparameters;
  Graph graph;
  EngineLimits limits;  // without total_blocks
  halogen_kv_geometry geometry{};
  MemoryInputs memory;
  std::string backend;
};

class ServedModel {
 public:
  // [worker] Looks at everything that loading would, with load()'s errors, and reads no weight.
  static Result<ModelNeeds> examine(const Profile& profile, PluginHost& plugins);
  // [worker] Loads everything that the profile asks for. Errors are one sentence that names the
  // file, key, plugin or figure; nothing is left behind then.
  static Result<std::unique_ptr<ServedModel>> load(const Profile& profile, PluginHost& plugins,
                                                   const ServeProgress& progress);
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;
  ~ServedModel();  // [worker] the engine that runs on it is already destroyed

  // [device] Between steps: the attention route of all later ones. An error where the backend has
  // none to choose.
  Status change_attention(const AttentionProfile& attention);

  // [any] All valid as long as the model.
  const EngineParts& parts() const { return parts_; }
  const EngineLimits& limits() const { return limits_; }
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  const text::TokenSearch& token_search() const { return *token_search_; }
  // What a request gets where it does not say otherwise.
  const SamplingOptions& sampling() const { return sampling_; }
  const Hyperparameters& hyperparameters() const { return model_graph_->hyperparameters; }
  // What its steps cost at least.
  Ledger ledger() const;
  // Null where the model has no chat template, or one that does not parse (chat_template_error()
  // says why).
  const ChatTemplate* chat_template() const { return chat_template_ ? &*chat_template_ : nullptr; }
  const std::string& chat_template_error() const { return chat_template_error_; }
  // Names it answers to; the first is what replies carry.
  const std::vector<std::string>& names() const { return names_; }
  // One line for the log: sizes, placement, context.
  std::string describe() const;

 private:
  ServedModel() = default;

  Status open_file(const Profile& profile, PluginHost& plugins);
  Status build_graph();
  Status read_vocabulary_and_template(const Profile& profile);
  Status read_chat_template(const Profile& profile);
  Status choose_backend(const Profile& profile, PluginHost& plugins);
  void set_limits(const Profile& profile);
  Result<MemoryInputs> memory_inputs(const Profile& profile) const;
  Result<WeightPlacement> plan_memory(const Profile& profile);
  WeightPlacement placement(WeightMemory asked, bool backend_copies) const;
  Result<std::vector<halogen_weight_data>> read_weights(WeightPlacement placement,
                                                        const ServeProgress& progress);
  Status make_program(const Profile& profile, const ServeProgress& progress);
  Status make_host_tier();
  Status read_default_sampling(const Profile& profile);
  Status make_sampler(const Profile& profile, PluginHost& plugins);
  Status make_scheduler(const Profile& profile, PluginHost& plugins);

  PluginHandle loader_plugin_, backend_plugin_, sampler_plugin_, scheduler_plugin_;
  std::optional<LoadedModel> file_;
  std::optional<ModelGraph> model_graph_;
  std::optional<WeightStore> weights_;
  std::optional<HostArena> host_arena_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::optional<text::TokenSearch> token_search_;
  SamplingOptions sampling_;
  std::optional<ChatTemplate> chat_template_;
  std::string chat_template_error_;
  std::vector<std::string> names_;
  halogen_kv_geometry geometry_{};
  halogen_backend* backend_instance_ = nullptr;
  EngineParts parts_;
  EngineLimits limits_;
};

}  // namespace halogen
