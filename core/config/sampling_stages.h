// The names of the sampler's stages, in profiles ("sampling.samplers") and requests ("samplers").
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halogen/sampler.h"

#include "core/base/result.h"

namespace halogen {

struct SamplingStageName {
  std::string_view name;
  halogen_sampling_stage stage;
};

// In the default order.
inline constexpr SamplingStageName kSamplingStages[] = {
    {"penalties", HALOGEN_STAGE_PENALTIES},
    {"dry", HALOGEN_STAGE_DRY},
    {"top_n_sigma", HALOGEN_STAGE_TOP_N_SIGMA},
    {"top_k", HALOGEN_STAGE_TOP_K},
    {"temperature", HALOGEN_STAGE_TEMPERATURE},
    {"typical_p", HALOGEN_STAGE_TYPICAL_P},
    {"top_p", HALOGEN_STAGE_TOP_P},
    {"min_p", HALOGEN_STAGE_MIN_P},
    {"xtc", HALOGEN_STAGE_XTC},
};

// llama.cpp's other names.
inline constexpr SamplingStageName kSamplingStageAliases[] = {
    {"typ_p", HALOGEN_STAGE_TYPICAL_P},
    {"typical", HALOGEN_STAGE_TYPICAL_P},
    {"temp", HALOGEN_STAGE_TEMPERATURE},
};

// [any] The numbers of the named stages. HALOGEN_E_INVALID names the one that is unknown or there
// twice: "has \"x\", which is ...", for a message that begins with the parameter's name.
inline Result<std::vector<std::uint32_t>> sampling_stages(const std::vector<std::string>& names) {
  const auto find = [](const std::string& name) -> std::uint32_t {
    for (const SamplingStageName& known : kSamplingStages)
      if (known.name == name) return known.stage;
    for (const SamplingStageName& known : kSamplingStageAliases)
      if (known.name == name) return known.stage;
    return 0;
  };
  std::vector<std::uint32_t> stages;
  for (const std::string& name : names) {
    const std::uint32_t stage = find(name);
    if (stage == 0) {
      std::string message = "has \"" + name + "\", which is no stage; there are";
      for (const SamplingStageName& known : kSamplingStages)
        message += (known.stage == HALOGEN_STAGE_PENALTIES ? " " : ", ") + std::string(known.name);
      return fail(HALOGEN_E_INVALID, std::move(message));
    }
    if (std::find(stages.begin(), stages.end(), stage) != stages.end())
      return fail(HALOGEN_E_INVALID, "has \"" + name + "\" twice");
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace halogen
