// The entry of the sampler plugin.
#include "halogen/cxx/plugin.hpp"

#include <cstring>

#include "halogen/sampler.h"

#include "factory.h"

namespace {

halogen::Host host;

halogen_status init(halogen_error* /*error*/) {
  sampler::use_host(host.table());
  return HALOGEN_OK;
}

void deinit() {
  sampler::use_host(nullptr);
}

const void* get_factory(const char* kind) {
  return std::strcmp(kind, HALOGEN_SAMPLER_KIND) == 0 ? &sampler::factory : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.halogen.sampler", "Batched sampler", "0.1.0", "Apache-2.0", host, init,
                      deinit, get_factory);
