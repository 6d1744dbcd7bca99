#include "plugins/vulkan/pipeline_cache.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include <unistd.h>

#include "plugins/vulkan/failure.h"
#include "plugins/vulkan/shaders.h"

namespace halogen::vulkan {
namespace {

constexpr char kMagic[] = "halogen vulkan pipelines 1\n";

// Fowler, Noll and Vo, 64 bits.
class Hash {
 public:
  void add(const void* data, size_t bytes) {
    const auto* byte = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < bytes; i++) value_ = (value_ ^ byte[i]) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

uint64_t hash_of(const std::string& bytes) {
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.value();
}

// Of everything besides vendor and device on which compiled code depends.
uint64_t identity(const Adapter& adapter) {
  Hash hash;
  hash.add(&adapter.driver_version, sizeof adapter.driver_version);
  hash.add(&adapter.driver_id, sizeof adapter.driver_id);
  hash.add(adapter.cache_uuid, sizeof adapter.cache_uuid);
  for (const Shader& shader : all_shaders()) {
    hash.add(shader.name.data(), shader.name.size());
    hash.add(shader.words.data(), shader.words.size_bytes());
  }
  return hash.value();
}

std::string user_cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg)
    return std::string(xdg) + "/halogen";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/halogen";
  return {};
}

std::string file_name(const Adapter& adapter) {
  char name[96];
  std::snprintf(name, sizeof name, "vulkan-%04x-%04x-%016llx.pipelines", adapter.vendor,
                adapter.device, static_cast<unsigned long long>(identity(adapter)));
  return name;
}

}  // namespace

PipelineCache::PipelineCache(Device& device, const std::string& folder, const halogen::Host& host)
    : device_(device), host_(host), folder_(folder.empty() ? user_cache_folder() : folder) {
  std::string data;
  if (!folder_.empty()) {
    path_ = folder_ + "/" + file_name(device.adapter());
    data = read(path_);
  }
  saved_hash_ = hash_of(data);
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  check(device.api().CreatePipelineCache(device.handle(), &info, nullptr, &handle_),
        "creating a pipeline cache");
}

PipelineCache::~PipelineCache() {
  device_.api().DestroyPipelineCache(device_.handle(), handle_, nullptr);
}

void PipelineCache::report(const std::string& sentence) {
  if (!reported_) host_.warn(sentence);
  reported_ = true;
}

// The driver's data; empty where there is no file or it is not whole.
std::string PipelineCache::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno != ENOENT) report(path + ": " + std::strerror(errno) + "; shaders are compiled anew");
    return {};
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const size_t head = sizeof kMagic - 1 + sizeof(uint64_t);
  uint64_t checksum = 0;
  if (bytes.size() >= head) std::memcpy(&checksum, &bytes[sizeof kMagic - 1], sizeof checksum);
  std::string data = bytes.size() >= head ? bytes.substr(head) : std::string();
  if (bytes.compare(0, sizeof kMagic - 1, kMagic) == 0 && checksum == hash_of(data)) return data;
  report(path + " is damaged; shaders are compiled anew and the file is replaced");
  return {};
}

void PipelineCache::save() {
  if (path_.empty()) return;
  size_t size = 0;
  check(device_.api().GetPipelineCacheData(device_.handle(), handle_, &size, nullptr),
        "reading the pipeline cache");
  std::string data(size, '\0');
  check(device_.api().GetPipelineCacheData(device_.handle(), handle_, &size, data.data()),
        "reading the pipeline cache");
  data.resize(size);
  const uint64_t checksum = hash_of(data);
  if (checksum == saved_hash_) return;
  saved_hash_ = checksum;
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  const std::string temporary = path_ + "." + std::to_string(::getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << kMagic;
  file.write(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  file << data;
  file.close();
  if (file) std::filesystem::rename(temporary, path_, failure);
  if (file && !failure) return;
  const std::string reason = failure ? failure.message() : std::strerror(errno);
  std::filesystem::remove(temporary, failure);
  report(folder_ + ": compiled shaders cannot be kept there (" + reason +
         "); the next start compiles them again, unless backend.kernel_cache names another folder");
}

}  // namespace halogen::vulkan
