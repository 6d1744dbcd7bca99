// A plugin's manifest: what the host knows of a plugin before it opens the shared object.
//
//   id = "org.halogen.cpu"                  # reverse DNS, the same as in the object's descriptor
//   name = "CPU backend"
//   version = "0.1.0"
//   kinds = ["halogen.backend/1"]
//   provides = {backend = ["cpu"]}          # what a profile calls it, for each kind; or "cpu"
//   abi = {major = 1, least_host_minor = 0}
//   library = "cpu.so"                      # beside the manifest, in the library folder, or
//   absolute package = "halogen-backend-cpu"         # optional: what to install when the library
//   is missing requires = {cpu = ["avx2"], notes = ["a Vulkan driver"]}  # optional, of the machine
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace halogen {

struct Manifest {
  std::filesystem::path path;  // of the manifest itself
  std::string id;
  std::string name;
  std::string version;
  std::vector<std::string> kinds;                            // "halogen.backend/1"
  std::map<std::string, std::vector<std::string>> provides;  // kind -> the names of its factory
  uint16_t abi_major = 0;
  uint16_t least_host_minor = 0;
  std::filesystem::path library;  // as written: relative or absolute
  std::string package;            // may be empty
  std::vector<std::string> cpu_features;
  std::vector<std::string> notes;  // other needs, for people

  bool has_kind(std::string_view kind) const;
  bool provides_name(std::string_view kind, std::string_view short_name) const;
};

// [any] The word for a kind: "backend" for "halogen.backend/1".
std::string kind_word(std::string_view kind);

// [worker] Reads a manifest. Every key but package and requires is needed, and no other is allowed;
// an error names file, line and the nearest key.
Result<Manifest> read_manifest(const std::filesystem::path& path);

// [any] The same from text; `path` is for messages and for Manifest::path.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path);

}  // namespace halogen
