// Compiled shaders of a device, each with its specialization; shared by all programs.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/vulkan/pipeline_cache.h"

namespace halogen::vulkan {

// A shader's name and the 32-bit words of its specialization struct.
struct PipelineKey {
  std::string shader;
  std::vector<uint32_t> constants;
  auto operator<=>(const PipelineKey&) const = default;
};

class Pipelines {
 public:
  // No push-constant struct is larger; every device takes as much.
  static constexpr uint32_t kPushBytes = 128;

  Pipelines(Device& device, PipelineCache& cache, const halogen_host* host);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  VkPipelineLayout layout() const { return layout_; }

  // Called on the caller's thread with the share that is done; false asks to stop.
  using Progress = std::function<bool(double)>;
  // [worker] Compiles those that are not there yet, on all threads. [keys] in their order. Throws a
  // Failure (HALOGEN_E_CANCELLED where progress said so).
  std::vector<VkPipeline> get(const std::vector<PipelineKey>& keys, const Progress& progress);

 private:
  struct Work;
  void compile_all(Work& work, const Progress& progress);
  VkPipeline compile(const PipelineKey& key) const;

  Device& device_;
  PipelineCache& cache_;
  const halogen_host* host_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  std::map<PipelineKey, VkPipeline> known_;
};

}  // namespace halogen::vulkan
