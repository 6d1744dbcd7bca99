// The shaders as a backend would specialise them for common models: what their cost is judged by.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "plugins/vulkan/shader_interface.h"
#include "plugins/vulkan/shaders.h"

namespace halogen::vulkan::testing {

struct Variant {
  std::string shader;
  std::string what;  // in what it differs from others of the same shader
  std::vector<uint32_t> specialization;

  template <typename Specialization>
  Variant(std::string name, std::string differs, const Specialization& values)
      : shader(std::move(name)), what(std::move(differs)), specialization(sizeof values / 4) {
    std::memcpy(specialization.data(), &values, sizeof values);
  }
};

// [any] At least one of every shader there is.
inline std::vector<Variant> shader_variants() {
  std::vector<Variant> variants;
  const auto add = [&](const std::string& name) {
    const auto is = [&](const char* kind) { return name.starts_with(std::string(kind) + "_"); };
    if (is("embed")) variants.emplace_back(name, "", EmbedSpecialization{});
    if (name.find("matmul_cooperative") != std::string::npos) {
      variants.emplace_back(name, "", MatmulCooperativeSpecialization{4 * 64});
      return;
    }
    if (is("matmul")) variants.emplace_back(name, "", MatmulSpecialization{});
    if (is("expert_matmul")) variants.emplace_back(name, "", MatmulSpecialization{});
    if (is("expert_matvec")) variants.emplace_back(name, "", ExpertMatvecSpecialization{64, 4, 32});
    if (is("matvec")) {
      for (const uint32_t tokens : {1, 4, 8, 16})
        variants.emplace_back(name, std::to_string(tokens) + " tokens",
                              MatvecSpecialization{64, tokens, tokens > 8 ? 2U : 4U, 32});
    }
  };
  for (const Shader& shader : all_shaders()) add(std::string(shader.name));

  for (const uint32_t kind : {HALOGEN_NORM_RMS, HALOGEN_NORM_LAYER})
    variants.emplace_back("norm", kind == HALOGEN_NORM_RMS ? "rms" : "layer",
                          NormSpecialization{256, kind});
  variants.emplace_back("quantise_q8", "", QuantiseSpecialization{});
  variants.emplace_back("rope", "", RopeSpecialization{});
  variants.emplace_back("activate", "silu", ActivateSpecialization{});
  variants.emplace_back("activate_q8", "silu", ActivateSpecialization{64});
  variants.emplace_back("elementwise", "add", ElementwiseSpecialization{});
  variants.emplace_back("copy_rows", "", CopySpecialization{});
  for (const halogen_type type : {HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0}) {
    const std::string name = halogen_type_find(type)->name;
    variants.emplace_back("kv_store", name, KvStoreSpecialization{64, type});
    variants.emplace_back("prepare_heads", name,
                          PrepareSpecialization{64, HALOGEN_ROPE_HALVES, type, type});
    AttendDecodeSpecialization decode;
    decode.key_type = decode.value_type = type;
    decode.subgroup_floor = 32;
    for (const uint32_t heads : {1, 4, 8}) {
      decode.heads = heads;
      variants.emplace_back("attend_decode", name + ", " + std::to_string(heads) + " heads",
                            decode);
    }
    AttendPrefillSpecialization prefill;
    prefill.key_type = prefill.value_type = type;
    variants.emplace_back("attend_prefill", name, prefill);
  }
  variants.emplace_back("expert_route", "", RouteSpecialization{});
  variants.emplace_back("expert_group", "", GroupSpecialization{});
  variants.emplace_back("expert_combine", "", CombineSpecialization{});
  variants.emplace_back("attend_merge", "", AttendMergeSpecialization{});
  return variants;
}

}  // namespace halogen::vulkan::testing
