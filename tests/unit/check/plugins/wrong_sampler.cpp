// The sampler plugin, made wrong in the way that the setting `fault` names.
#include <cstring>
#include <vector>

#include "halogen/cxx/plugin.hpp"
#include "halogen/sampler.h"

#include "plugins/sampler/factory.h"

namespace {

halogen::Host host;
std::string fault;

const halogen_config_key kFault = {sizeof(halogen_config_key),
                                   HALOGEN_CONFIG_STRING,
                                   "fault",
                                   "none",
                                   "In what way to be wrong.",
                                   0,
                                   0,
                                   "none|seed|temperature|top_p|mask|history|batch|crash|names|"
                                   "typical|sigma|xtc|dynatemp|order|dry|mirostat|older",
                                   false};
const halogen_config_key* const kKeys[] = {&kFault};

halogen_status create(const halogen_config* config, uint32_t vocabulary_size,
                      halogen_sampler** sampler, halogen_error* error) {
  fault = halogen::Config(config).text("fault");
  return sampler::factory.create(config, vocabulary_size, sampler, error);
}

halogen_status check(const halogen_sampling_parameters* parameters, halogen_error* error) {
  const halogen_status status = sampler::factory.check(parameters, error);
  return fault == "names" && status != HALOGEN_OK ? halogen_fail(error, status, "out of range")
                                                  : status;
}

// One stage that is wrong.
void alter_stages(halogen_sampling_parameters& parameters) {
  if (fault == "typical" && parameters.typical_p < 1) {
    parameters.top_p = parameters.typical_p;  // the most probable instead of the typical ones
    parameters.typical_p = 1;
  }
  if (fault == "sigma") parameters.top_n_sigma *= 2;
  if (fault == "xtc" && parameters.xtc_probability > 0) parameters.xtc_probability = 1;
  if (fault == "dynatemp") parameters.dynatemp_exponent = 1;
  if (fault == "order") parameters.stages = nullptr;
  if (fault == "dry") parameters.dry_allowed_length++;
  if (fault == "mirostat") parameters.mirostat_eta = 0;  // never corrects itself
}

halogen_status state_create(halogen_sampler* sampler, const halogen_sampling_parameters* parameters,
                            const int32_t* prompt, uint32_t n_prompt, uint32_t max_tokens,
                            halogen_sampling_state** state, halogen_error* error) {
  static uint64_t made = 0;
  halogen_sampling_parameters changed = *parameters;
  if (fault == "seed") changed.seed = made++;
  if (fault == "temperature") changed.temperature *= 1.1F;
  if (fault == "top_p" && changed.top_p < 1) changed.top_p = 0.5F * (1 + changed.top_p);
  // Reads on where an older host's parameters have ended.
  if (fault == "older") changed.struct_size = sizeof changed;
  if (HALOGEN_HAS(parameters, reserved)) alter_stages(changed);
  return sampler::factory.state_create(sampler, &changed, prompt, n_prompt, max_tokens, state,
                                       error);
}

halogen_status sample(halogen_sampler* sampler, const halogen_sample_batch* batch,
                      halogen_error* error) {
  halogen_sample_batch changed = *batch;
  if (fault == "mask") changed.masks = nullptr;
  if (fault == "crash" && batch->vocabulary_size == 33) *static_cast<volatile int*>(nullptr) = 1;
  const halogen_status status = sampler::factory.sample(sampler, &changed, error);
  // Sees what was sampled, without being told that it was taken.
  for (uint32_t row = 0; fault == "history" && row < batch->n_rows; row++)
    if (batch->tokens[row] >= 0)
      sampler::factory.accept(batch->states[row], &batch->tokens[row], 1);
  // Depends on its place in the batch.
  if (fault == "batch" && batch->n_rows > 1) batch->tokens[1] = batch->tokens[0];
  return status;
}

halogen_sampler_factory factory() {
  halogen_sampler_factory changed = sampler::factory;
  changed.name = "wrong";
  changed.n_config_keys = 1;
  changed.config_keys = kKeys;
  changed.create = create;
  changed.check = check;
  changed.state_create = state_create;
  changed.sample = sample;
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

HALOGEN_DEFINE_PLUGIN("org.example.sampler", "Wrong sampler", "1.0.0", "Apache-2.0", host, init,
                      deinit, get_factory);
