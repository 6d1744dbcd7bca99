#include "core/model/weight_store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halogen {
namespace {

constexpr uint64_t kChunk = uint64_t{16} << 20;  // bytes per read and between two progress calls
constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlignment = kPage;  // of each tensor in the arena
constexpr unsigned kReaders = 4;        // reads in flight: enough for an NVMe disk

// A file descriptor that closes itself.
class File {
 public:
  explicit File(const char* path) : descriptor_(::open(path, O_RDONLY | O_CLOEXEC)) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Error io_error(const char* path, const char* what) {
  return fail(HALOGEN_E_IO, std::string(path) + ": " + what + ": " + std::strerror(errno));
}

Error shrunk(const char* path) {
  return fail(HALOGEN_E_IO,
              std::string(path) +
                  ": the file became shorter while it was being loaded; do not write to "
                  "a model file in use");
}

Result<std::vector<File>> open_files(const LoadedModel& model) {
  std::vector<File> files;
  for (uint32_t i = 0; i < model.file_count(); i++) {
    files.emplace_back(model.file_path(i));
    if (files.back().descriptor() < 0) return io_error(model.file_path(i), "cannot open it");
  }
  return files;
}

// One piece of a tensor, and where its bytes are to be.
struct Piece {
  int descriptor;
  const char* path;
  uint64_t offset;
  char* target;
  uint64_t bytes;
};

// Fills a piece of the arena.
Status read_piece(const Piece& piece) {
  uint64_t done = 0;
  while (done < piece.bytes) {
    const ssize_t n = ::pread(piece.descriptor, piece.target + done, piece.bytes - done,
                              static_cast<off_t>(piece.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(piece.path, "cannot read it");
    if (n == 0) return shrunk(piece.path);
    done += static_cast<uint64_t>(n);
  }
  return {};
}

// Reads in a piece of a mapped file, so that serving never waits for the disk.
Status touch_piece(const Piece& piece) {
  const uint64_t before = reinterpret_cast<uintptr_t>(piece.target) % kAlignment;
  char* const first = piece.target - before;
#ifdef MADV_POPULATE_READ
  if (::madvise(first, before + piece.bytes, MADV_POPULATE_READ) == 0) return {};
  if (errno == EFAULT) return shrunk(piece.path);
#endif
  for (uint64_t at = 0; at < before + piece.bytes; at += kAlignment)
    static_cast<void>(*static_cast<const volatile char*>(first + at));
  return {};
}

// Brings in all pieces on several threads; the calling thread does its part and reports progress.
Status bring_in(const std::vector<Piece>& pieces, Status (*bring)(const Piece&), uint64_t total,
                const LoadProgress& progress) {
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Status outcome;
  const auto refuse = [&](const Error& error) {
    const std::scoped_lock lock(mutex);
    if (outcome) outcome = error;
    stop = true;
  };
  const auto work = [&](bool reports) {
    while (!stop) {
      const size_t index = next.fetch_add(1);
      if (index >= pieces.size()) return;
      if (auto status = bring(pieces[index]); !status) return refuse(status.error());
      done += pieces[index].bytes;
      if (reports && progress && !progress(done, total)) {
        return refuse(fail(HALOGEN_E_CANCELLED, "loading was cancelled"));
      }
    }
  };
  std::vector<std::thread> readers;
  for (unsigned i = 1; i < kReaders; i++) readers.emplace_back(work, false);
  work(true);
  for (std::thread& reader : readers) reader.join();
  if (outcome && progress) progress(total, total);
  return outcome;
}

// All tensors cut into pieces; data[i] is where tensors[i] is to be.
std::vector<Piece> pieces_of(const LoadedModel& model,
                             const std::vector<const halogen_tensor*>& tensors,
                             const std::vector<File>& files, const std::vector<char*>& data) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < tensors.size(); i++) {
    const halogen_tensor& tensor = *tensors[i];
    for (uint64_t at = 0; at < tensor.bytes; at += kChunk) {
      pieces.push_back({files[tensor.file].descriptor(), model.file_path(tensor.file),
                        tensor.offset + at, data[i] + at, std::min(kChunk, tensor.bytes - at)});
    }
  }
  return pieces;
}

}  // namespace

struct WeightStore::Mapping {
  void* address;
  uint64_t bytes;
};

void WeightStore::Unmap::operator()(Mapping* mapping) const {
  ::munmap(mapping->address, mapping->bytes);
  delete mapping;
}

Result<WeightStore> WeightStore::load(const LoadedModel& model,
                                      const std::vector<const halogen_tensor*>& tensors,
                                      WeightPlacement placement, const LoadProgress& progress) {
  return placement == WeightPlacement::mapped ? map_files(model, tensors, progress)
                                              : fill_arena(model, tensors, progress);
}

Result<WeightStore> WeightStore::map_files(const LoadedModel& model,
                                           const std::vector<const halogen_tensor*>& tensors,
                                           const LoadProgress& progress) {
  auto files = open_files(model);
  if (!files) return files.error();
  WeightStore store;
  std::vector<uint64_t> sizes;
  for (uint32_t i = 0; i < model.file_count(); i++) {
    struct stat info{};
    if (::fstat((*files)[i].descriptor(), &info) != 0)
      return io_error(model.file_path(i), "cannot stat it");
    const auto size = static_cast<uint64_t>(info.st_size);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, (*files)[i].descriptor(), 0);
    if (address == MAP_FAILED) return io_error(model.file_path(i), "cannot map it");
    store.mappings_.emplace_back(new Mapping{address, size});
    ::madvise(address, size, MADV_WILLNEED);
    sizes.push_back(size);
  }
  for (const halogen_tensor* tensor : tensors) {
    if (tensor->offset > sizes[tensor->file] ||
        tensor->bytes > sizes[tensor->file] - tensor->offset) {
      return shrunk(model.file_path(tensor->file));
    }
    store.data_.push_back(static_cast<char*>(store.mappings_[tensor->file]->address) +
                          tensor->offset);
    store.bytes_.push_back(tensor->bytes);
    store.total_bytes_ += tensor->bytes;
  }
  const auto pieces = pieces_of(model, tensors, *files, store.data_);
  if (auto status = bring_in(pieces, touch_piece, store.total_bytes_, progress); !status)
    return status.error();
  return store;
}

Result<WeightStore> WeightStore::fill_arena(const LoadedModel& model,
                                            const std::vector<const halogen_tensor*>& tensors,
                                            const LoadProgress& progress) {
  auto files = open_files(model);
  if (!files) return files.error();
  const auto aligned = [](uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  uint64_t arena_bytes = 0;
  for (const halogen_tensor* tensor : tensors) arena_bytes += aligned(tensor->bytes);

  WeightStore store;
  void* arena = ::mmap(nullptr, std::max<uint64_t>(arena_bytes, kAlignment), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (arena == MAP_FAILED) {
    return fail(HALOGEN_E_NO_MEMORY, model.path() + ": no memory for " +
                                         std::to_string(arena_bytes) + " bytes of weights");
  }
  store.mappings_.emplace_back(new Mapping{arena, std::max<uint64_t>(arena_bytes, kAlignment)});
  ::madvise(arena, arena_bytes, MADV_HUGEPAGE);

  char* next = static_cast<char*>(arena);
  for (const halogen_tensor* tensor : tensors) {
    store.data_.push_back(next);
    store.bytes_.push_back(tensor->bytes);
    store.total_bytes_ += tensor->bytes;
    next += aligned(tensor->bytes);
  }
  const auto pieces = pieces_of(model, tensors, *files, store.data_);
  if (auto status = bring_in(pieces, read_piece, store.total_bytes_, progress); !status)
    return status.error();
  return store;
}

void WeightStore::release(size_t index) {
  // Whole pages only: the neighbours' bytes stay.
  const auto begin = reinterpret_cast<uintptr_t>(data_[index]);
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t end = (begin + bytes_[index]) / kPage * kPage;
  if (end <= first) return;
  ::munlock(reinterpret_cast<void*>(first), end - first);
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace halogen
