#include "plugins/vulkan/pipelines.h"

#include <algorithm>
#include <atomic>
#include <set>

#include <sched.h>

#include "plugins/vulkan/failure.h"
#include "plugins/vulkan/shaders.h"

namespace halogen::vulkan {
namespace {

// That this process may use.
unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

Pipelines::Pipelines(Device& device, PipelineCache& cache, const halogen_host* host)
    : device_(device), cache_(cache), host_(host) {
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushBytes};
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  check(device.api().CreatePipelineLayout(device.handle(), &info, nullptr, &layout_),
        "creating a pipeline layout");
}

Pipelines::~Pipelines() {
  for (const auto& [key, pipeline] : known_)
    device_.api().DestroyPipeline(device_.handle(), pipeline, nullptr);
  device_.api().DestroyPipelineLayout(device_.handle(), layout_, nullptr);
}

// One round of compiling: threads take keys in order until none is left or one has failed.
struct Pipelines::Work {
  const Pipelines& pipelines;
  std::vector<PipelineKey> keys;
  std::vector<VkPipeline> compiled;  // [keys]
  std::atomic<size_t> next{0}, done{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::string failure;  // the first one's message
  halogen_status status = HALOGEN_OK;

  // False when there is nothing left to take.
  bool step() {
    const size_t i = stop ? keys.size() : next.fetch_add(1);
    if (i >= keys.size()) return false;
    halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
    const halogen_status result = at_boundary(&error, [&]() -> halogen_status {
      compiled[i] = pipelines.compile(keys[i]);
      return HALOGEN_OK;
    });
    done.fetch_add(1);
    if (result != HALOGEN_OK) fail(result, error.message);
    return true;
  }
  void fail(halogen_status why, const char* message) {
    const std::lock_guard lock(mutex);
    stop = true;
    if (status != HALOGEN_OK) return;
    status = why;
    failure = message;
  }
  static void run(void* work) {
    while (static_cast<Work*>(work)->step()) {
    }
  }
};

void Pipelines::compile_all(Work& work, const Progress& progress) {
  std::vector<halogen_thread*> helpers;
  for (size_t i = 1; i < std::min<size_t>(processors(), work.keys.size()); i++) {
    halogen_thread* helper = nullptr;
    if (host_->thread_start(host_, "vulkan-compile", Work::run, &work, &helper, nullptr) !=
        HALOGEN_OK)
      break;
    helpers.push_back(helper);
  }
  do {
    const double share = static_cast<double>(work.done) / static_cast<double>(work.keys.size());
    if (!progress(share)) work.fail(HALOGEN_E_CANCELLED, "cancelled");
  } while (work.step());
  for (halogen_thread* helper : helpers) host_->thread_join(host_, helper);
}

std::vector<VkPipeline> Pipelines::get(const std::vector<PipelineKey>& keys,
                                       const Progress& progress) {
  const std::lock_guard lock(mutex_);
  std::set<PipelineKey> missing;
  for (const PipelineKey& key : keys)
    if (known_.count(key) == 0) missing.insert(key);
  if (!missing.empty()) {
    Work work{*this, {missing.begin(), missing.end()}, {}, {}, {}, {}, {}, {}, HALOGEN_OK};
    work.compiled.resize(work.keys.size(), VK_NULL_HANDLE);
    compile_all(work, progress);
    for (size_t i = 0; i < work.keys.size(); i++)
      if (work.compiled[i] != VK_NULL_HANDLE) known_.emplace(work.keys[i], work.compiled[i]);
    if (work.status != HALOGEN_OK) throw Failure(work.status, work.failure);
    cache_.save();
  }
  std::vector<VkPipeline> pipelines;
  for (const PipelineKey& key : keys) pipelines.push_back(known_.at(key));
  return pipelines;
}

VkPipeline Pipelines::compile(const PipelineKey& key) const {
  const Shader* shader = find_shader(key.shader);
  if (!shader) throw Failure(HALOGEN_E_INTERNAL, "there is no shader " + key.shader);
  const DeviceFunctions& api = device_.api();
  VkShaderModuleCreateInfo module_info{};
  module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_info.codeSize = shader->words.size_bytes();
  module_info.pCode = shader->words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(api.CreateShaderModule(device_.handle(), &module_info, nullptr, &module),
        "reading the shader " + key.shader);

  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < key.constants.size(); i++) entries.push_back({i, 4 * i, 4});
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(),
                                            4 * key.constants.size(), key.constants.data()};
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result =
      api.CreateComputePipelines(device_.handle(), cache_.handle(), 1, &info, nullptr, &pipeline);
  api.DestroyShaderModule(device_.handle(), module, nullptr);
  check(result, "compiling the shader " + key.shader);
  return pipeline;
}

}  // namespace halogen::vulkan
