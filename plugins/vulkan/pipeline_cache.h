// What the driver has compiled, kept in a file: the next start compiles nothing.
//
// A file is for one vendor, device, driver version and set of shaders, carries a checksum, and is
// written under another name and renamed, so that a reader never sees half of one.
#pragma once

#include <string>

#include "halogen/cxx/plugin.hpp"

#include "plugins/vulkan/device.h"

namespace halogen::vulkan {

class PipelineCache {
 public:
  // [worker] Reads what `folder` has for the device; empty: the user's cache folder. `report` gets
  // a sentence when the folder or a file in it is of no use; that happens once.
  PipelineCache(Device& device, const std::string& folder, const halogen::Host& host);
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  VkPipelineCache handle() const { return handle_; }
  // [worker] Writes the file where something was compiled since it was read.
  void save();

 private:
  std::string read(const std::string& path);
  void report(const std::string& sentence);

  Device& device_;
  const halogen::Host& host_;
  std::string folder_, path_;
  VkPipelineCache handle_ = VK_NULL_HANDLE;
  uint64_t saved_hash_ = 0;
  bool reported_ = false;
};

}  // namespace halogen::vulkan
