#include "core/host/threads.h"

#include <algorithm>
#include <system_error>

#include <pthread.h>

#include "core/base/log.h"

namespace halogen {

Result<halogen_thread*> PluginThreads::start(const std::string& name, halogen_run run,
                                             void* argument) {
  if (name.empty() || name.size() > 15)
    return fail(HALOGEN_E_INVALID,
                "a thread cannot be named \"" + name + "\": a name has 1 to 15 bytes");
  if (!run) return fail(HALOGEN_E_INVALID, "thread \"" + name + "\" has no function to run");

  const std::scoped_lock lock(mutex_);  // a thread that ends at once waits until it is on the list
  auto& entry = *threads_.emplace_back(std::make_unique<halogen_thread>());
  entry.name = name;
  try {
    entry.thread = std::thread([this, &entry, run, argument] {
      try {
        run(argument);
      } catch (...) {
        log_error("host", "plugin thread \"" + entry.name + "\" ended with an exception");
      }
      const std::scoped_lock end_lock(mutex_);
      entry.finished = true;
      ended_.notify_all();
    });
  } catch (const std::system_error& error) {
    threads_.pop_back();
    return fail(HALOGEN_E_NO_MEMORY, "thread \"" + name + "\" cannot be started: " + error.what());
  }
  ::pthread_setname_np(entry.thread.native_handle(), name.c_str());
  return &entry;
}

std::unique_ptr<halogen_thread> PluginThreads::take(const halogen_thread* thread) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& entry) {
    return entry.get() == thread && entry->thread.joinable();
  });
  if (found == threads_.end()) return nullptr;
  auto taken = std::move(*found);
  threads_.erase(found);
  return taken;
}

bool PluginThreads::join(halogen_thread* thread) {
  const auto taken = take(thread);
  if (!taken) return false;
  taken->thread.join();
  return true;
}

PluginThreads::Leftovers PluginThreads::join_leftovers(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  Leftovers leftovers;
  std::vector<halogen_thread*> finished;
  {
    std::unique_lock lock(mutex_);
    ended_.wait_until(lock, deadline, [&] {
      return std::all_of(threads_.begin(), threads_.end(),
                         [](const auto& entry) { return entry->finished; });
    });
    for (const auto& entry : threads_) {
      leftovers.joined.push_back(entry->name);
      if (entry->finished) {
        finished.push_back(entry.get());
      } else {
        leftovers.running.push_back(entry->name);
        entry->thread.detach();  // given up: it ends when it ends
        leftovers.joined.pop_back();
      }
    }
  }
  // Finished threads have left the plugin's function; what is left of them is the system's.
  for (halogen_thread* thread : finished) join(thread);
  return leftovers;
}

}  // namespace halogen
