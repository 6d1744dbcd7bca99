// One loaded copy of a plugin, from opening its object to the proof that it is gone.
//
// A plugin that is replaced while it serves exists in two generations for a while: the old one,
// with its own code, data, threads and services, until its last user lets go, and the new one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "halogen/plugin.h"

#include "core/base/metrics.h"
#include "core/base/result.h"
#include "core/host/catalogue.h"
#include "core/host/loop_poster.h"

namespace halogen {

enum class GenerationState {
  serving,
  unloading,
  unloaded,
  resident  // its code stays mapped for the life of the process
};

// What is told of a generation; outlives it, and can be read while it is being unloaded.
struct GenerationRecord {
  std::string id;
  std::string version;
  uint64_t number = 0;
  std::atomic<GenerationState> state{GenerationState::serving};

  void stay_resident(std::string why);
  std::string why_resident() const;

 private:
  mutable std::mutex mutex_;
  std::string why_resident_;
};

class PluginGeneration {
 public:
  struct Environment {
    MetricRegistry& metrics;
    LoopPoster& loop;
    std::chrono::milliseconds patience;  // with posted functions, and with threads, at unloading
    std::chrono::milliseconds slow;      // loading that takes this long is logged
  };

  // [worker] Opens the object, checks it against its manifest and runs its init. `purpose` is what
  // it was asked for ('backend "cpu"'), for messages. Errors name plugin, file and the remedy;
  // nothing of the object is left then.
  static Result<std::unique_ptr<PluginGeneration>> load(const CatalogueEntry& entry,
                                                        const std::string& purpose, uint64_t number,
                                                        Environment environment);

  // [worker] Unloads where unload() was not called; what goes wrong is logged.
  ~PluginGeneration();
  PluginGeneration(const PluginGeneration&) = delete;
  PluginGeneration& operator=(const PluginGeneration&) = delete;

  // [any] The factory of a kind ("halogen.backend/1"), valid until the generation ends; null where
  // the plugin has none.
  const void* factory(const char* kind) const;
  template <typename Factory>
  const Factory* factory_as(const char* kind) const {
    return static_cast<const Factory*>(factory(kind));
  }

  // [any] Of the headers it was built with.
  uint16_t abi_minor() const;

  // [any]
  const std::string& id() const { return record_->id; }
  const std::string& version() const { return record_->version; }
  uint64_t number() const { return record_->number; }
  const std::shared_ptr<GenerationRecord>& record() const { return record_; }

  // [worker] Ends the plugin; once. Everything made by its factories is already destroyed. Runs
  // what it posted, then deinit, joins the threads that it left, drops its metrics, closes the
  // object and verifies that it is gone. HALOGEN_E_BUSY says why the code stays mapped.
  Status unload();

 private:
  struct Parts;  // what stays alive with code that stays resident

  PluginGeneration(std::unique_ptr<Parts> parts, Environment environment,
                   std::shared_ptr<GenerationRecord> record);

  Status start(const CatalogueEntry& entry);
  Status check_factories(const Manifest& manifest) const;
  Status stop(bool initialised);
  // Keeps the parts for the life of the process.
  Error keep_resident(std::string why);

  std::unique_ptr<Parts> parts_;
  Environment environment_;
  std::shared_ptr<GenerationRecord> record_;
};

}  // namespace halogen
