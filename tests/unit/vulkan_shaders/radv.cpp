#include "tests/unit/vulkan_shaders/radv.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/vulkan_shaders/vulkan_calls.h"

namespace halogen::vulkan::testing {
namespace {

VkInstance make_instance() {
  setenv("RADV_FORCE_FAMILY", "gfx1151", 1);
  auto application = described<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.apiVersion = VK_API_VERSION_1_2;
  auto info = described<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
  return instance;
}

// Null where no device is a gfx1151.
VkPhysicalDevice find_device(VkInstance instance) {
  for (VkPhysicalDevice device : physical_devices(instance)) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(device, &properties);
    if (std::string(properties.deviceName).find("GFX1151") != std::string::npos) return device;
  }
  return VK_NULL_HANDLE;
}

// A driver that does not know the family aborts the process: a child finds out.
bool knows_family() {
  const pid_t child = fork();
  if (child == 0) {
    std::fclose(stderr);  // its last words would alarm the reader of a test that is only skipped
    _exit(find_device(make_instance()) ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

ShaderStatistics read_statistics(VkDevice device, const VkPipelineExecutableInfoKHR& which) {
  const auto ask = reinterpret_cast<PFN_vkGetPipelineExecutableStatisticsKHR>(
      vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR"));
  uint32_t count = 0;
  check(ask(device, &which, &count, nullptr), "vkGetPipelineExecutableStatisticsKHR");
  std::vector<VkPipelineExecutableStatisticKHR> answers(
      count, described<VkPipelineExecutableStatisticKHR>(
                 VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR));
  check(ask(device, &which, &count, answers.data()), "vkGetPipelineExecutableStatisticsKHR");
  ShaderStatistics statistics;
  for (const auto& answer : answers) statistics[answer.name] = answer.value.u64;
  return statistics;
}

// All representations, of which one is the machine's.
std::string read_assembly(VkDevice device, const VkPipelineExecutableInfoKHR& which) {
  constexpr const char* kCall = "vkGetPipelineExecutableInternalRepresentationsKHR";
  const auto ask = reinterpret_cast<PFN_vkGetPipelineExecutableInternalRepresentationsKHR>(
      vkGetDeviceProcAddr(device, kCall));
  uint32_t count = 0;
  check(ask(device, &which, &count, nullptr), kCall);
  std::vector<VkPipelineExecutableInternalRepresentationKHR> parts(
      count, described<VkPipelineExecutableInternalRepresentationKHR>(
                 VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR));
  check(ask(device, &which, &count, parts.data()), kCall);
  std::vector<std::string> texts;
  for (const auto& part : parts) texts.emplace_back(part.dataSize, '\0');
  for (size_t i = 0; i < parts.size(); i++) parts[i].pData = texts[i].data();
  check(ask(device, &which, &count, parts.data()), kCall);
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

}  // namespace

Radv::Radv() {
  if (!knows_family())
    throw std::runtime_error("no RADV that knows gfx1151: scripts/vulkan-registers brings one");
  instance_ = make_instance();
  VkPhysicalDevice physical = find_device(instance_);
  auto statistics = described<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);
  statistics.pipelineExecutableInfo = VK_TRUE;
  ShaderFeatures features(&statistics);
  features.offered_by(physical);
  device_ =
      make_device(physical, 0, features, {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME});
  layout_ = make_layout(device_);
}

Radv::~Radv() {
  if (layout_) vkDestroyPipelineLayout(device_, layout_, nullptr);
  if (device_) vkDestroyDevice(device_, nullptr);
  if (instance_) vkDestroyInstance(instance_, nullptr);
}

Radv::Compiled Radv::compile(const Variant& variant) {
  VkPipeline pipeline =
      make_pipeline(device_, layout_, variant.shader, variant.specialization,
                    VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                        VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR);
  auto which =
      described<VkPipelineExecutableInfoKHR>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR);
  which.pipeline = pipeline;
  Compiled compiled{read_statistics(device_, which), read_assembly(device_, which)};
  vkDestroyPipeline(device_, pipeline, nullptr);
  return compiled;
}

}  // namespace halogen::vulkan::testing
