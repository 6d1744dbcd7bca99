// Completes a model's hyperparameters with their defaults and checks that they fit each other.
#pragma once

#include <string_view>

#include "plugins/gguf/failure.h"
#include "plugins/gguf/gguf_model.h"
#include "plugins/gguf/metadata_values.h"

namespace halogen::gguf {

// `metadata` holds what the file says; see the table in gguf_metadata.h for what is added. Where
// the file has no tensors (a vocabulary), nothing is required, but what is there must still make
// sense.
bool complete_model(const GgufModel& model, std::string_view architecture,
                    NormalisedMetadata& metadata, Failure& failure);

}  // namespace halogen::gguf
