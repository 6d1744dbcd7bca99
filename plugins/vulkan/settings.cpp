#include "plugins/vulkan/settings.h"

#include "halogen/cxx/plugin.hpp"

namespace halogen::vulkan {
namespace {

const halogen_config_key kDevice = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "device",
    "auto",
    "Device by its number in the list or a part of its name; auto takes the first that will do.",
    0,
    0,
    nullptr,
    false};
const halogen_config_key kKernelCache = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "kernel_cache",
    "",
    "Folder for compiled shaders; empty: backend.kernel_cache, or a folder in the user's cache.",
    0,
    0,
    nullptr,
    false};
const halogen_config_key kValidation = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_BOOL,
    "validation",
    "false",
    "Let the Khronos validation layer watch all calls; its first message fails the step.",
    0,
    0,
    nullptr,
    false};
const halogen_config_key kBarriers = {sizeof(halogen_config_key),
                                      HALOGEN_CONFIG_STRING,
                                      "barriers",
                                      "auto",
                                      "Barriers between dispatches: auto where one needs what "
                                      "another writes; always, to find faults.",
                                      0,
                                      0,
                                      "auto|always",
                                      false};
const halogen_config_key kStaging = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "staging",
    "auto",
    "Copies through staging buffers: auto where the host does not see the memory; always, to test.",
    0,
    0,
    "auto|always",
    false};
const halogen_config_key kSubmitOperations = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_INT,
    "submit_gigaops",
    "200",
    "Operations of one submission, in billions: longer ones may meet the driver's watchdog.",
    1,
    1 << 20,
    nullptr,
    false};

}  // namespace

const halogen_config_key* const kConfigKeys[kConfigKeyCount] = {
    &kDevice, &kKernelCache, &kValidation, &kBarriers, &kStaging, &kSubmitOperations};

Settings read_settings(const halogen_config* config) {
  const Config read(config);
  Settings settings;
  settings.device = read.text("device");
  settings.kernel_cache = read.text("kernel_cache");
  settings.validation = read.boolean("validation");
  settings.always_barrier = read.text("barriers") == "always";
  settings.always_stage = read.text("staging") == "always";
  settings.submit_operations =
      static_cast<uint64_t>(read.integer("submit_gigaops")) * 1'000'000'000;
  return settings;
}

}  // namespace halogen::vulkan
