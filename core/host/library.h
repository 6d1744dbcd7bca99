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

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "halogen/plugin.h"

#include "core/base/result.h"

namespace halogen {

class Library {
 public:
  // [worker] Copies and opens (RTLD_NOW | RTLD_LOCAL); runs the object's static constructors.
  // Errors name `path` and quote the dynamic loader.
  static Result<std::unique_ptr<Library>> open(const std::filesystem::path& path);

  // Unloads without asking whether it worked, where unload() was not called.
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // [any] The exported entry; null where the object has none.
  const halogen_plugin* entry() const { return entry_; }

  // [any] The file it was copied from.
  const std::filesystem::path& path() const { return path_; }

  // [worker] dlclose, and a look whether the mappings are gone. HALOGEN_E_BUSY when they are not,
  // with the probable reasons; the object is then kept, and no later call can unload it.
  Status unload();

 private:
  struct Handle;
  Library(std::filesystem::path path, int copy, std::string copy_name);

  std::filesystem::path path_;
  int copy_;               // the memory file
  std::string copy_path_;  // what the loader calls it
  std::string copy_name_;  // unique in this process; what /proc/self/maps calls it
  std::unique_ptr<Handle> handle_;
  const halogen_plugin* entry_ = nullptr;
};

}  // namespace halogen
