// The plugin under test, as the cases see it in the child process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/metrics.h"
#include "core/base/result.h"
#include "core/check/reference/precision.h"
#include "core/host/catalogue.h"
#include "core/host/config_view.h"
#include "core/host/generation.h"

namespace halogen::check {

// What is checked and how, as the command line has it.
struct Options {
  CatalogueEntry plugin;
  std::string kind;                   // "" or one of the plugin's kinds
  std::string filter = "*";           // of full names, as in a shell
  std::vector<std::string> required;  // as `filter`: unsupported or skipped is a failure there
  std::vector<std::pair<std::string, std::string>> settings;  // of the plugin's own table
  std::vector<std::filesystem::path> models;                  // further good files for a loader
  uint64_t seed = 1;
  bool quick = false;
  reference::Precision precision = reference::Precision::q8;
};

class Subject {
 public:
  // `scratch`: a folder for files, which belongs to the run.
  Subject(const Options& options, std::filesystem::path scratch);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const Options& options() const { return options_; }
  const std::filesystem::path& scratch() const { return scratch_; }
  // What a plugin that posts to the loop, or makes metrics, gets.
  LoopPoster& loop();
  MetricRegistry& metrics() { return metrics_; }

  // Loads the plugin at the first call, the way the server does. Null, with the reason in error(),
  // where it cannot be loaded or lacks the kind or one of its functions.
  template <typename Factory>
  const Factory* factory(const char* kind) {
    return static_cast<const Factory*>(factory_of(kind));
  }
  const std::string& error() const { return error_; }
  // Of the headers that the plugin was built with; nothing, as above, where it cannot be loaded.
  std::optional<unsigned> abi_minor();

  // The settings of the command line for a factory's keys. Where the plugin has several kinds,
  // those that this one does not list are left out.
  Result<ConfigView> settings(std::string_view kind,
                              std::span<const halogen_config_key* const> keys) const;

  // The same numbers for the same case whatever ran before.
  std::mt19937 random(std::string_view case_name) const;

 private:
  class LoopThread;
  const void* factory_of(const char* kind);
  PluginGeneration* loaded();

  const Options& options_;
  std::filesystem::path scratch_;
  MetricRegistry metrics_;
  std::unique_ptr<LoopThread> loop_;
  std::unique_ptr<PluginGeneration> plugin_;
  std::string error_;
};

// [worker] HALOGEN_E_INVALID where the plugin's factories do not take the command line's settings.
Status check_settings(Subject& subject);

}  // namespace halogen::check
