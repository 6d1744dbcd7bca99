// The subcommands of the halogen program. Each takes its parsed arguments and returns the exit
// status.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bench/offline.h"
#include "core/bench/perplexity.h"
#include "core/bench/server_load.h"
#include "core/config/flags.h"

namespace halogen::cli {

// Exit statuses, as sysexits.h has them where they are not 0 or 1.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 64;

// Serves the API until a signal ends it.
int serve(const FlagValues& flags);

struct RunArguments {
  std::string model;
  std::string prompt;       // empty: read from standard input
  uint32_t max_tokens = 0;  // 0: as many as the context holds
  double temperature = -1;  // below 0: the profile's
  int64_t seed = -1;        // below 0: another one each time
  bool raw = false;         // the prompt as it is, without the chat template
};

// Answers one prompt on the terminal.
int run(const FlagValues& flags, const RunArguments& arguments);

// Lists the plugins that there are.
int list_plugins(const FlagValues& flags);

struct InspectArguments {
  std::string file;      // a plugin's library or manifest
  std::string manifest;  // to compare a library with; empty: the one that names it
  bool json = false;
};

// Tells what a plugin's file is without loading it; fails where this halogen would refuse it.
int inspect(const InspectArguments& arguments);

struct CheckArguments {
  std::string plugin;                 // an id, a name, a manifest or a shared object
  std::string kind;                   // "": all that the plugin has
  std::string filter = "*";           // of case names
  std::vector<std::string> required;  // globs of case names that must not be left out
  std::vector<std::string> settings;  // KEY=VALUE of the plugin's own table
  std::vector<std::string> models;    // further good files for a loader
  std::vector<std::string> folders;   // further folders of manifests
  std::string precision = "q8";
  uint64_t seed = 1;
  bool quick = false, json = false, list = false, verbose = false;
};

// Runs the conformance suite on a plugin; 0: nothing failed, 1: something did, 2: it could not run.
int check_plugin(const CheckArguments& arguments, const char* version);

// The model that a command measures, and how it is run.
struct ModelArguments {
  std::string model;
  FlagValues flags;        // --config and --set
  uint32_t threads = 0;    // of the cpu backend; 0: as the profile says
  std::string cache_type;  // empty: as the profile says
};

// How a command prints what it found.
struct OutputArguments {
  bool json = false, markdown = false;
};

struct BenchArguments {
  ModelArguments model;
  bench::OfflineOptions offline;
  std::string url;  // of a server to load; then no model is
  bench::LoadOptions load;
  OutputArguments output;
};

// Measures a model on this machine, or a running server.
int bench(const BenchArguments& arguments);

struct PlanArguments {
  ModelArguments model;
  std::string memory;    // "128G"; empty: this machine's
  double bandwidth = 0;  // GB/s; 0: measured
  bool json = false;
};

// Says whether a model fits and how fast it can be; fails where it does not fit.
int plan(const PlanArguments& arguments);

struct PerplexityArguments {
  ModelArguments model;
  std::string text;  // a file
  bench::PerplexityOptions options;
  bool json = false;
};

// Measures how well a model predicts a text.
int perplexity(const PerplexityArguments& arguments);

// Shows the effective profile and where each value came from.
int show_config(const FlagValues& flags);

}  // namespace halogen::cli
