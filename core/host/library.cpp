#include "core/host/library.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include "core/host/elf_traits.h"

namespace halogen {
namespace {

std::string system_error(const std::filesystem::path& path, const char* what) {
  return path.string() + ": " + what + ": " + std::strerror(errno);
}

// Fills `copy` with the file at `path`.
Status copy_file(const std::filesystem::path& path, int copy) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(HALOGEN_E_IO, system_error(path, "cannot be opened"));
  ssize_t sent = 0;
  do {
    sent = ::sendfile(copy, file, nullptr, size_t{1} << 30);
  } while (sent > 0 || (sent < 0 && errno == EINTR));
  Status status;
  if (sent < 0) status = fail(HALOGEN_E_IO, system_error(path, "cannot be copied"));
  ::close(file);
  return status;
}

std::string path_of_copy(int copy) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(copy);
}

// The loader speaks of the copy; people know the file.
std::string with_file_name(std::string text, const std::string& copy,
                           const std::filesystem::path& path) {
  for (size_t at = 0; (at = text.find(copy, at)) != std::string::npos; at += path.string().size())
    text.replace(at, copy.size(), path.string());
  return text;
}

// Held while the loader changes what is mapped: so a look whether an object is gone sees no other
// thread's half-done work. (The loader's own lock would do for the rest, but no race detector sees
// it.)
std::mutex& loader_mutex() {
  static std::mutex mutex;
  return mutex;
}

bool loader_knows(const std::string& object) {
  struct Search {
    const std::string& object;
    bool found;
  } search{object, false};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        wanted->found = wanted->found || wanted->object == info->dlpi_name;
        return 0;
      },
      &search);
  return search.found;
}

bool is_mapped(const std::string& copy_name) {
  std::ifstream maps("/proc/self/maps");
  const std::string needle = "/memfd:" + copy_name + ' ';  // "(deleted)" follows
  for (std::string line; std::getline(maps, line);)
    if (line.find(needle) != std::string::npos) return true;
  return false;
}

std::vector<std::byte> bytes_of(int copy) {
  struct stat status{};
  if (::fstat(copy, &status) != 0) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
  const ssize_t got = ::pread(copy, bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

// Says that the file will be executed, which hardened systems (vm.memfd_noexec) ask for and kernels
// before 6.3 do not know.
int executable_memory_file(const std::string& name) {
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC, which this libc's headers lack
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int file = ::memfd_create(name.c_str(), kFlags | kExecutable);
  return file < 0 && errno == EINVAL ? ::memfd_create(name.c_str(), kFlags) : file;
}

}  // namespace

struct Library::Handle {
  boost::dll::shared_library object;
};

Library::Library(std::filesystem::path path, int copy, std::string copy_name)
    : path_(std::move(path)),
      copy_(copy),
      copy_path_(path_of_copy(copy)),
      copy_name_(std::move(copy_name)),
      handle_(std::make_unique<Handle>()) {}

Result<std::unique_ptr<Library>> Library::open(const std::filesystem::path& path) {
  static std::atomic<uint64_t> opened{0};
  // Names of memory files are limited to 249 bytes.
  std::string name = path.filename().string().substr(0, 200) + '.' + std::to_string(++opened);
  const int copy = executable_memory_file(name);
  if (copy < 0)
    return fail(HALOGEN_E_IO, system_error(path, "no memory file for its private copy"));
  std::unique_ptr<Library> library(new Library(path, copy, std::move(name)));
  if (auto copied = copy_file(path, copy); !copied) return copied.error();
  ::fcntl(copy, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);

  const std::string& copy_path = library->copy_path_;
  const std::scoped_lock lock(loader_mutex());
  try {
    std::error_code error;
    library->handle_->object.load(
        copy_path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local, error);
    if (error) {
      const char* reason = ::dlerror();
      return fail(HALOGEN_E_INVALID,
                  path.string() + " cannot be loaded: " +
                      with_file_name(reason ? reason : error.message(), copy_path, path));
    }
    if (library->handle_->object.has(HALOGEN_PLUGIN_SYMBOL))
      library->entry_ = &library->handle_->object.get<const halogen_plugin>(HALOGEN_PLUGIN_SYMBOL);
  } catch (const std::exception& exception) {
    return fail(HALOGEN_E_INTERNAL, path.string() + " cannot be loaded: " + exception.what());
  } catch (...) {
    return fail(HALOGEN_E_INTERNAL,
                path.string() + " cannot be loaded: one of its constructors threw");
  }
  return library;
}

Library::~Library() {
  if (copy_ < 0) return;
  const std::scoped_lock lock(loader_mutex());
  handle_.reset();
  // While the object is still mapped the descriptor stays open: its number is part of the name by
  // which the loader would take a later copy for this one.
  if (!loader_knows(copy_path_)) ::close(copy_);
}

Status Library::unload() {
  const std::scoped_lock lock(loader_mutex());
  entry_ = nullptr;
  handle_.reset();
  if (!loader_knows(copy_path_) && !is_mapped(copy_name_)) {
    ::close(copy_);
    copy_ = -1;
    return {};
  }
  std::string message = path_.string() + " stays mapped after it was closed: ";
  const auto reasons = reasons_to_stay_mapped(bytes_of(copy_));
  if (reasons.empty()) message += "somebody else holds it open";
  for (size_t i = 0; i < reasons.size(); ++i) message += (i == 0 ? "" : "; ") + reasons[i];
  return fail(HALOGEN_E_BUSY, std::move(message));
}

}  // namespace halogen
