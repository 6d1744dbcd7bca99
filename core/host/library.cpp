#include "core/host/library.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <span>
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
#include "core/host/text.h"

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

// What the loader has of an object that is open.
struct Mapped {
  const std::string& object;
  bool found = false;
  std::vector<AddressRange> code;
};

Mapped find_mapped(const std::string& object) {
  Mapped mapped{object, false, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<Mapped*>(data);
        if (wanted->object != info->dlpi_name) return 0;
        wanted->found = true;
        for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            wanted->code.push_back({begin, begin + segment.p_memsz});
        }
        return 1;
      },
      &mapped);
  return mapped;
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

// Refuses what the dynamic loader would stumble over, or die of.
Status check_object(const std::vector<std::byte>& bytes, const std::filesystem::path& path,
                    const Library::Approval& approve) {
  const auto object = ElfObject::parse(bytes);
  if (!object) return within(path.string() + " cannot be loaded", object.error());
  if (object->machine() != this_machine())
    return fail(HALOGEN_E_UNSUPPORTED,
                path.string() + " is for " + machine_name(object->machine()) +
                    " processors, but this one is " + machine_name(this_machine()) +
                    "; install the plugin's package for this machine");
  return approve(*object);
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

Result<std::unique_ptr<Library>> Library::open(const std::filesystem::path& path,
                                               const Approval& approve) {
  static std::atomic<uint64_t> opened{0};
  // Names of memory files are limited to 249 bytes.
  std::string name = path.filename().string().substr(0, 200) + '.' + std::to_string(++opened);
  const int copy = executable_memory_file(name);
  if (copy < 0)
    return fail(HALOGEN_E_IO, system_error(path, "no memory file for its private copy"));
  std::unique_ptr<Library> library(new Library(path, copy, std::move(name)));
  if (auto copied = copy_file(path, copy); !copied) return copied.error();
  ::fcntl(copy, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  if (auto status = check_object(bytes_of(copy), path, approve); !status) return status.error();
  if (auto status = library->load(); !status) return status.error();
  return library;
}

Status Library::load() {
  const std::scoped_lock lock(loader_mutex());
  older_threads_ = thread_ids();
  try {
    std::error_code error;
    handle_->object.load(
        copy_path_, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local, error);
    if (error) {
      const char* reason = ::dlerror();
      return fail(HALOGEN_E_INVALID,
                  path_.string() + " cannot be loaded: " +
                      with_file_name(reason ? reason : error.message(), copy_path_, path_));
    }
    if (handle_->object.has(HALOGEN_PLUGIN_SYMBOL))
      entry_ = &handle_->object.get<const halogen_plugin>(HALOGEN_PLUGIN_SYMBOL);
  } catch (const std::exception& exception) {
    return fail(HALOGEN_E_INTERNAL, path_.string() + " cannot be loaded: " + exception.what());
  }
  return {};
}

Library::~Library() {
  if (copy_ < 0) return;
  if (handle_) (void)unload({});
  if (!handle_) return;
  // A thread is in the code: it stays for good.
  static auto* kept = new std::vector<std::unique_ptr<Handle>>;
  const std::scoped_lock lock(loader_mutex());
  kept->push_back(std::move(handle_));
}

Status Library::unload(std::chrono::milliseconds patience) {
  const auto threads = threads_inside(find_mapped(copy_path_).code, older_threads_, patience);
  if (!threads.inside.empty())
    return fail(HALOGEN_E_BUSY,
                path_.string() + " stays mapped: threads that it did not start through the host " +
                    "still run in it: " + joined(threads.inside, ", "));
  if (!threads.unseen.empty())
    return fail(HALOGEN_E_BUSY, path_.string() + " stays mapped: these threads may run in it; " +
                                    "they never paused and could not be looked at: " +
                                    joined(threads.unseen, ", "));

  const std::scoped_lock lock(loader_mutex());
  entry_ = nullptr;
  handle_.reset();
  // While the object is still mapped the descriptor stays open: its number is part of the name by
  // which the loader would take a later copy for this one.
  if (!find_mapped(copy_path_).found && !is_mapped(copy_name_)) {
    ::close(copy_);
    copy_ = -1;
    return {};
  }
  const std::vector<std::byte> bytes = bytes_of(copy_);
  const auto object = ElfObject::parse(bytes);
  const auto reasons = object ? reasons_to_stay_mapped(*object) : std::vector<std::string>();
  return fail(HALOGEN_E_BUSY,
              path_.string() + " stays mapped after it was closed: " +
                  (reasons.empty() ? "somebody else holds it open" : joined(reasons, "; ")));
}

}  // namespace halogen
