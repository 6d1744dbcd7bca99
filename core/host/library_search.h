// Where the dynamic loader would find the libraries that an object needs, and what they define;
// nothing is loaded.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/host/elf_object.h"

namespace halogen {

// [any] The files of the name of a needed library ("libm.so.6") in the order in which the loader
// tries them, which goes on where one is for another machine: in the folders of `run_path`, in the
// loader's folders and LD_LIBRARY_PATH, in its cache (ldconfig(8)). `origin` is the folder of the
// object that needs it, for $ORIGIN; empty: not known, and such folders are left out.
std::vector<std::filesystem::path> find_libraries(std::string_view name, std::string_view run_path,
                                                  const std::filesystem::path& origin);

// What the libraries that an object needs, and those that they need, hold for it.
struct NeededLibraries {
  std::vector<std::string> missing;  // not found, or no shared object of the same machine
  std::set<std::string, std::less<>> symbols;
};

// [worker] Reads all of them. The object itself is opened from a private copy, whose $ORIGIN holds
// nothing.
NeededLibraries read_needed_libraries(const ElfObject& object);

// [worker] A whole file. Errors: HALOGEN_E_IO.
Result<std::vector<std::byte>> read_object_file(const std::filesystem::path& path);

}  // namespace halogen
