// The sampler as the host sees it: rows of logits in, tokens out.
#pragma once

#include "halogen/sampler.h"

namespace sampler {

extern const halogen_sampler_factory factory;

}  // namespace sampler
