// The sampler as a table of the SDK; separate from the plugin's entry so that tests can call it.
#pragma once

#include "halogen/host.h"
#include "halogen/sampler.h"

namespace sampler {

extern const halogen_sampler_factory factory;

// [worker] Whose threads samplers made from here on use; null: none, and rows are sampled one after
// the other.
void use_host(const halogen_host* host);

}  // namespace sampler
