// The services of one generation of a plugin: what stands behind its halogen_host table.
//
// Everything a plugin gets through the table is counted here, so that nothing of it is left when
// the code goes away: threads, posted functions, metrics.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "halogen/host.h"

#include "core/base/metrics.h"
#include "core/host/loop_poster.h"
#include "core/host/threads.h"

namespace halogen {

class PluginServices {
 public:
  // `id` marks the plugin's log lines. Registry and loop outlive the services.
  PluginServices(std::string id, MetricRegistry& metrics, LoopPoster& loop);
  PluginServices(const PluginServices&) = delete;
  PluginServices& operator=(const PluginServices&) = delete;

  // [any] The table for the plugin's init; valid as long as this object.
  const halogen_host* table() const { return &table_; }

  // [any] From now on post and thread_start answer HALOGEN_E_CANCELLED.
  void close();

  // [worker] Waits until everything posted has run. The number of functions that had not after
  // `patience`.
  size_t drain(std::chrono::milliseconds patience);

  // [any]
  PluginThreads& threads() { return threads_; }

  // [worker] No metric of the plugin is shown from now on; its code must not run any more.
  void drop_metrics() { metrics_.reset(); }

 private:
  struct Calls;   // the functions of the table
  struct Posted;  // one function on its way to the loop

  bool closed();

  std::string id_;
  LoopPoster& loop_;
  std::unique_ptr<MetricGroup> metrics_;
  PluginThreads threads_;
  halogen_host table_{};

  std::mutex mutex_;
  std::condition_variable drained_;
  bool closed_ = false;
  size_t posted_ = 0;  // not yet run
};

}  // namespace halogen
