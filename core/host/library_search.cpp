#include "core/host/library_search.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <utility>

#include <dlfcn.h>

namespace halogen {
namespace {

namespace fs = std::filesystem;

// The loader's own list: LD_LIBRARY_PATH and the system's folders.
std::vector<std::string> loader_folders() {
  std::vector<std::string> folders;
  void* program = ::dlopen(nullptr, RTLD_NOW | RTLD_NOLOAD);
  if (!program) return folders;
  Dl_serinfo head{};
  if (::dlinfo(program, RTLD_DI_SERINFOSIZE, &head) == 0) {
    std::vector<std::max_align_t> space(head.dls_size / sizeof(std::max_align_t) + 1);
    auto* info = reinterpret_cast<Dl_serinfo*>(space.data());
    *info = head;
    if (::dlinfo(program, RTLD_DI_SERINFO, info) == 0)
      for (unsigned i = 0; i < info->dls_cnt; ++i)
        folders.emplace_back((&info->dls_serpath[0] + i)->dls_name);
  }
  ::dlclose(program);
  return folders;
}

// The head and an entry of /etc/ld.so.cache, glibc's dl-cache.h. The texts' offsets count from the
// head, which older versions put behind a table in another format.
constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
struct CacheHead {
  char magic[20];
  uint32_t entries, text_bytes;
  uint32_t unused[5];
};
struct CacheEntry {
  int32_t flags;
  uint32_t name, path;
  uint32_t os_version;
  uint64_t hardware;
};

std::vector<std::pair<std::string, std::string>> read_loader_cache() {
  std::vector<std::pair<std::string, std::string>> libraries;  // name, path
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const size_t start = bytes.find(kCacheMagic);
  if (start == std::string::npos) return libraries;
  bytes.erase(0, start);
  CacheHead head;
  if (bytes.size() < sizeof head) return libraries;
  std::memcpy(&head, bytes.data(), sizeof head);
  for (uint64_t i = 0; i < head.entries; ++i) {
    CacheEntry entry;
    const uint64_t at = sizeof head + i * sizeof entry;
    if (at + sizeof entry > bytes.size()) break;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.name < bytes.size() && entry.path < bytes.size())
      libraries.emplace_back(bytes.c_str() + entry.name, bytes.c_str() + entry.path);
  }
  return libraries;
}

// A folder of a run path; empty where the origin is not known that it begins with.
std::string with_origin(std::string_view folder, const fs::path& origin) {
  for (const std::string_view variable : {"$ORIGIN", "${ORIGIN}"})
    if (folder.starts_with(variable))
      return origin.empty() ? "" : origin.string().append(folder.substr(variable.size()));
  return std::string(folder);
}

}  // namespace

Result<std::vector<std::byte>> read_object_file(const fs::path& path) {
  constexpr uintmax_t kLargest = uintmax_t{4} << 30;
  const auto refuse = [&](const char* why) {
    return fail(HALOGEN_E_IO, path.string() + ": " + why);
  };
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return refuse("there is no such file");
  if (!fs::is_regular_file(status)) return refuse("this is no file");
  const uintmax_t size = fs::file_size(path, error);
  if (error || size > kLargest) return refuse("this is too large for a plugin");
  std::vector<std::byte> bytes(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
    return refuse("it cannot be read");
  return bytes;
}

std::vector<fs::path> find_libraries(std::string_view name, std::string_view run_path,
                                     const fs::path& origin) {
  std::error_code ignored;
  std::vector<fs::path> found;
  const auto look_at = [&](const fs::path& path) {
    if (fs::is_regular_file(path, ignored)) found.push_back(path);
  };
  if (name.find('/') != std::string_view::npos) {
    look_at(name);
    return found;
  }
  std::vector<std::string> folders;
  while (!run_path.empty()) {
    const size_t colon = run_path.find(':');
    folders.push_back(with_origin(run_path.substr(0, colon), origin));
    run_path = colon == std::string_view::npos ? "" : run_path.substr(colon + 1);
  }
  static const std::vector<std::string> system_folders = loader_folders();
  folders.insert(folders.end(), system_folders.begin(), system_folders.end());
  for (const fs::path folder : folders)
    if (folder.is_absolute()) look_at(folder / name);

  static const auto cache = read_loader_cache();
  for (const auto& [library, path] : cache)
    if (library == name) look_at(path);
  return found;
}

NeededLibraries read_needed_libraries(const ElfObject& object) {
  struct Needed {
    std::string name, run_path;  // of who needs it
    fs::path origin;
  };
  NeededLibraries libraries;
  std::set<std::string, std::less<>> seen;
  std::deque<Needed> waiting;
  const auto enqueue = [&](const ElfObject& from, const fs::path& origin) {
    for (const std::string_view name : from.needed())
      if (seen.emplace(name).second)
        waiting.push_back({std::string(name), std::string(from.run_path()), origin});
  };
  // Whether it is the library that the loader would take.
  const auto take = [&](const fs::path& path) {
    const auto bytes = read_object_file(path);
    const auto library = bytes ? ElfObject::parse(*bytes) : bytes.error();
    if (!library || library->machine() != object.machine()) return false;
    for (const ElfSymbol& symbol : library->symbols())
      if (symbol.defined) libraries.symbols.emplace(symbol.name);
    enqueue(*library, path.parent_path());
    return true;
  };
  enqueue(object, {});
  while (!waiting.empty()) {
    const Needed needed = std::move(waiting.front());
    waiting.pop_front();
    if (std::ranges::none_of(find_libraries(needed.name, needed.run_path, needed.origin), take))
      libraries.missing.push_back(needed.name);
  }
  return libraries;
}

}  // namespace halogen
