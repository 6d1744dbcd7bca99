// What every command that uses a model needs: the loop, the metrics and the plugin host, made from
// a profile.
#pragma once

#include <memory>

#include "core/base/metrics.h"
#include "core/base/result.h"
#include "core/config/profile.h"
#include "core/host/loop_poster.h"
#include "core/host/registry.h"
#include "core/loop/loop.h"

namespace halogen::cli {

class Runtime {
 public:
  static Result<std::unique_ptr<Runtime>> create(const Profile& profile);

  Loop& loop() { return *loop_; }
  MetricRegistry& metrics() { return metrics_; }
  PluginHost& plugins() { return *plugins_; }

 private:
  // The plugin host's view of the loop.
  class Poster final : public LoopPoster {
   public:
    explicit Poster(Loop& loop) : loop_(loop) {}
    void post(halogen_run run, void* argument) override {
      loop_.post([run, argument] { run(argument); });
    }
    bool on_loop_thread() const override { return loop_.on_loop_thread(); }

   private:
    Loop& loop_;
  };
  Runtime() = default;

  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Poster> poster_;
  MetricRegistry metrics_;
  std::unique_ptr<PluginHost> plugins_;
};

// Prints an error to standard error, a line each, behind "halogen: "; returns the exit status.
int report(const Error& error);

// Switches the log to what the profile says.
void start_log(const LogProfile& log);

}  // namespace halogen::cli
