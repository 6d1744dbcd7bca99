// The threads that one generation of a plugin started, so that none can outlive the code it runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "halogen/host.h"

#include "core/base/result.h"

// The SDK's opaque handle.
struct halogen_thread {
  std::thread thread;
  std::string name;
  bool finished = false;  // under PluginThreads::mutex_
};

namespace halogen {

class PluginThreads {
 public:
  PluginThreads() = default;
  // Every thread must have been joined or given up.
  ~PluginThreads() = default;
  PluginThreads(const PluginThreads&) = delete;
  PluginThreads& operator=(const PluginThreads&) = delete;

  // [worker] Errors: HALOGEN_E_INVALID for a name that the system does not take (empty, or over 15
  // bytes), HALOGEN_E_NO_MEMORY when there can be no further thread.
  Result<halogen_thread*> start(const std::string& name, halogen_run run, void* argument);

  // [worker] Waits for the thread and frees it. False for a handle that is not one of ours.
  bool join(halogen_thread* thread);

  struct Leftovers {
    std::vector<std::string> joined;   // names of threads that the plugin had not joined
    std::vector<std::string> running;  // names of those that did not even end within `patience`
  };
  // [worker] Joins what nobody joined. What is still running is kept.
  Leftovers join_leftovers(std::chrono::milliseconds patience);

 private:
  // Takes the handle out of threads_; null where it is not there.
  std::unique_ptr<halogen_thread> take(const halogen_thread* thread);

  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::unique_ptr<halogen_thread>> threads_;
};

}  // namespace halogen
