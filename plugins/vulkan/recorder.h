// Writes the dispatches of a step into command buffers, with barriers where hazards ask for them.
#pragma once

#include <initializer_list>

#include "plugins/vulkan/commands.h"
#include "plugins/vulkan/hazards.h"
#include "plugins/vulkan/memory_pool.h"
#include "plugins/vulkan/pipelines.h"
#include "plugins/vulkan/shader_interface.h"

namespace halogen::vulkan {

// An index into a plan's pipelines.
using PipelineId = uint32_t;

struct RecorderOptions {
  bool always_barrier = false;
  uint64_t submit_operations = UINT64_MAX;  // in a command buffer, where a dispatch has no more
};

class Recorder {
 public:
  using Options = RecorderOptions;

  // All outlive the recorder; the command buffers end up in `commands`.
  Recorder(Device& device, VkPipelineLayout layout, const std::vector<VkPipeline>& pipelines,
           const Options& options, Commands& commands);

  // `operations`: multiply-adds count as two; 0 for what takes no time to speak of.
  template <typename Constants>
  void dispatch(PipelineId pipeline, const Constants& constants, Groups groups,
                std::initializer_list<Range> reads, std::initializer_list<Range> writes,
                uint64_t operations = 0) {
    static_assert(sizeof constants <= Pipelines::kPushBytes);
    dispatch(pipeline, &constants, sizeof constants, groups, {reads.begin(), reads.size()},
             {writes.begin(), writes.size()}, operations);
  }
  void copy(const Span& from, const Span& to);
  void finish();

  uint32_t dispatches() const { return dispatches_; }
  uint32_t barriers() const { return barriers_; }

 private:
  void dispatch(PipelineId pipeline, const void* constants, uint32_t bytes, Groups groups,
                std::span<const Range> reads, std::span<const Range> writes, uint64_t operations);
  void begin();
  void barrier();

  Device& device_;
  VkPipelineLayout layout_;
  const std::vector<VkPipeline>& pipelines_;
  Options options_;
  Commands& commands_;
  Hazards hazards_;
  VkCommandBuffer buffer_ = VK_NULL_HANDLE;
  VkPipeline bound_ = VK_NULL_HANDLE;
  uint64_t operations_ = 0;  // in the command buffer at hand
  uint32_t dispatches_ = 0, barriers_ = 0;
};

}  // namespace halogen::vulkan
