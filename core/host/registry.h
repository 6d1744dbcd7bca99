// The plugin host: loads plugins by kind and name, shares what is loaded, and tells what there is.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/metrics.h"
#include "core/base/result.h"
#include "core/host/catalogue.h"
#include "core/host/generation.h"
#include "core/host/loop_poster.h"

namespace halogen {

// Holding it keeps the plugin loaded. The last one is let go on a worker: it runs the plugin's
// deinit.
using PluginHandle = std::shared_ptr<PluginGeneration>;

struct PluginHostOptions {
  std::vector<PluginFolder> folders;  // from make_search_path
  // How long unloading waits for what the plugin posted, and for threads that it left.
  std::chrono::milliseconds patience{5000};
  // Loading that takes this long is told in the log.
  std::chrono::milliseconds slow{1000};
};

enum class PluginState { available, library_missing, wrong_abi, manifest_broken, failed };

// A line of `halogen plugins`.
struct PluginInfo {
  struct Generation {
    uint64_t number = 0;
    std::string version;
    GenerationState state = GenerationState::serving;
    std::string why_resident;
  };
  Manifest manifest;  // only the path where the manifest is broken
  std::filesystem::path library;
  std::string origin;  // of the folder: "administrator", "build tree"
  PluginState state = PluginState::available;
  std::string message;  // of a broken manifest, or of the last load, where it failed
  std::vector<Generation> generations;  // loaded, oldest first
};

class PluginHost {
 public:
  // Metrics and loop outlive the host and every handle.
  PluginHost(PluginHostOptions options, MetricRegistry& metrics, LoopPoster& loop);
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;

  // [worker] The plugin that provides `name` for `kind` ("halogen.backend/1", "cpu"), or has the id
  // `name`. One that is loaded already is shared. Manifests are read anew, so that a package that
  // was just installed is found. Errors: one sentence that names plugin, file and remedy.
  Result<PluginHandle> load(std::string_view kind, std::string_view name);

  // [worker] The same, but always a new generation from the file as it is now. From then on load()
  // shares this one; the older ones go on until their users let go.
  Result<PluginHandle> load_fresh(std::string_view kind, std::string_view name);

  // [worker] Ends a plugin through its last handle, and tells how that went. HALOGEN_E_BUSY where
  // others hold it (the handle is then kept), or when its code stays mapped.
  Status unload(PluginHandle& last);

  // [worker] Every plugin with a manifest on the search path, broken ones and those loaded without
  // one any more included.
  std::vector<PluginInfo> list();

 private:
  Result<PluginHandle> load_from(std::string_view kind, std::string_view name, bool fresh);
  // Reads the manifests and logs the warnings that are new. Under mutex_.
  Catalogue scan();
  // Drops the records of generations that are gone. Under mutex_.
  void forget_unloaded();

  PluginHostOptions options_;
  MetricRegistry& metrics_;
  LoopPoster& loop_;

  std::mutex loading_;  // one load at a time: two users that ask at once share one generation
  std::mutex mutex_;    // what follows
  uint64_t generations_ = 0;
  std::map<std::string, std::weak_ptr<PluginGeneration>> current_;  // by id
  std::vector<std::shared_ptr<GenerationRecord>> records_;
  std::map<std::string, std::string> failures_;  // id -> why its last load failed
  std::set<std::string> warned_;
};

}  // namespace halogen
