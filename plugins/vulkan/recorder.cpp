#include "plugins/vulkan/recorder.h"

namespace halogen::vulkan {

Recorder::Recorder(Device& device, VkPipelineLayout layout,
                   const std::vector<VkPipeline>& pipelines, const Options& options,
                   Commands& commands)
    : device_(device),
      layout_(layout),
      pipelines_(pipelines),
      options_(options),
      commands_(commands),
      hazards_(options.always_barrier) {
  begin();
}

void Recorder::begin() {
  buffer_ = commands_.begin();
  bound_ = VK_NULL_HANDLE;
  operations_ = 0;
  hazards_.clear();
}

void Recorder::barrier() {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  device_.api().CmdPipelineBarrier(buffer_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, nullptr,
                                   0, nullptr);
  barriers_++;
}

void Recorder::dispatch(PipelineId pipeline, const void* constants, uint32_t bytes, Groups groups,
                        std::span<const Range> reads, std::span<const Range> writes,
                        uint64_t operations) {
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return;
  if (operations_ > 0 && operations_ + operations > options_.submit_operations) begin();
  operations_ += operations;
  if (hazards_.barrier_before(reads, writes)) barrier();
  const DeviceFunctions& api = device_.api();
  if (VkPipeline wanted = pipelines_[pipeline]; wanted != bound_) {
    api.CmdBindPipeline(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, wanted);
    bound_ = wanted;
  }
  api.CmdPushConstants(buffer_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, constants);
  api.CmdDispatch(buffer_, groups.x, groups.y, groups.z);
  dispatches_++;
}

void Recorder::copy(const Span& from, const Span& to) {
  if (from.bytes == 0) return;
  Commands::barrier(device_.api(), buffer_);
  hazards_.clear();
  const VkBufferCopy region{from.offset, to.offset, from.bytes};
  device_.api().CmdCopyBuffer(buffer_, from.buffer, to.buffer, 1, &region);
}

void Recorder::finish() {
  commands_.end();
}

}  // namespace halogen::vulkan
