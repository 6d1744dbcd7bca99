// The one place that opens shared objects.
//
// Every opening maps a private copy of the file, kept in an anonymous, sealed memory file. So
// the file can be replaced, even overwritten in place, while it runs; the same path can be opened
// again and gives the new content (dlopen of a path that is open returns the old object); nothing
// is left on disk however the process ends; and folders mounted noexec do not matter. The copy has
// the path /proc/<pid>/fd/<n> while it is open, where debuggers and sanitizers find its symbols;
// profilers see it as /memfd:<file name>. A plugin therefore must not look for files relative to
// its own object.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "halogen/plugin.h"

#include "core/base/result.h"
#include "core/host/elf_object.h"
#include "core/host/stack_search.h"

namespace halogen {

class Library {
 public:
  // Asked what to think of an object before any of its code runs.
  using Approval = std::function<Status(const ElfObject&)>;

  // [worker] Copies, checks that the file is whole and for this machine, asks `approve`, and opens
  // (RTLD_NOW | RTLD_LOCAL), which runs the object's static constructors. Errors name `path` and
  // quote the dynamic loader, or are those of `approve`.
  static Result<std::unique_ptr<Library>> open(const std::filesystem::path& path,
                                               const Approval& approve);

  // Unloads where unload() was not called; an object that cannot be unloaded stays mapped.
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // [any] The exported entry; null where the object has none.
  const halogen_plugin* entry() const { return entry_; }

  // [any] The file it was copied from.
  const std::filesystem::path& path() const { return path_; }

  // [worker] Looks whether a thread is in the code, for up to `patience`; dlclose; and a look
  // whether the mappings are gone. HALOGEN_E_BUSY when they are not, with the probable reasons; the
  // object is then kept, and no later call can unload it.
  Status unload(std::chrono::milliseconds patience);

 private:
  struct Handle;
  Library(std::filesystem::path path, int copy, std::string copy_name);
  Status load();

  std::filesystem::path path_;
  int copy_;               // the memory file; -1 when it is closed
  std::string copy_path_;  // what the loader calls it
  std::string copy_name_;  // unique in this process; what /proc/self/maps calls it
  std::set<pid_t> older_threads_;
  std::unique_ptr<Handle> handle_;
  const halogen_plugin* entry_ = nullptr;
};

}  // namespace halogen
