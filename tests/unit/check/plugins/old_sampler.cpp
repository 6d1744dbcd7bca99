// A sampler as it was built with the headers of ABI 1.0: it knows no later parameters.
#include <cstddef>
#include <cstring>

#include "halogen/cxx/plugin.hpp"
#include "halogen/sampler.h"

#include "plugins/sampler/factory.h"

#undef HALOGEN_ABI_MINOR
#define HALOGEN_ABI_MINOR 0

namespace {

halogen::Host host;

// The parameters as far as it reads them.
halogen_sampling_parameters first_part(const halogen_sampling_parameters& parameters) {
  constexpr size_t kSize = offsetof(halogen_sampling_parameters, typical_p);
  halogen_sampling_parameters known{};
  std::memcpy(&known, &parameters, kSize);
  known.struct_size = kSize;
  return known;
}

halogen_status check(const halogen_sampling_parameters* parameters, halogen_error* error) {
  const halogen_sampling_parameters known = first_part(*parameters);
  return sampler::factory.check(&known, error);
}

halogen_status state_create(halogen_sampler* sampler, const halogen_sampling_parameters* parameters,
                            const int32_t* prompt, uint32_t n_prompt, uint32_t max_tokens,
                            halogen_sampling_state** state, halogen_error* error) {
  const halogen_sampling_parameters known = first_part(*parameters);
  return sampler::factory.state_create(sampler, &known, prompt, n_prompt, max_tokens, state, error);
}

halogen_sampler_factory factory() {
  halogen_sampler_factory changed = sampler::factory;
  changed.name = "old";
  changed.check = check;
  changed.state_create = state_create;
  return changed;
}

halogen_status init(halogen_error* /*error*/) {
  return HALOGEN_OK;
}
void deinit() {}

const void* get_factory(const char* kind) {
  static const halogen_sampler_factory changed = factory();
  return std::strcmp(kind, HALOGEN_SAMPLER_KIND) == 0 ? &changed : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.example.old-sampler", "Old sampler", "1.0.0", "Apache-2.0", host, init,
                      deinit, get_factory);
