// From a model's normalised metadata ("halogen.tokenizer.…") to the vocabulary that a tokenizer is
// made of.
#pragma once

#include "core/base/result.h"
#include "core/model/loaded_model.h"
#include "core/text/vocabulary.h"

namespace halogen {

// [worker] Errors name the file and the key.
Result<text::Vocabulary> read_vocabulary(const LoadedModel& model);

}  // namespace halogen
