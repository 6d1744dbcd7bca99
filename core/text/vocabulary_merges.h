// The merges that a vocabulary lists, as a table of ids.
#pragma once

#include "core/text/merge.h"
#include "core/text/token_index.h"
#include "core/text/vocabulary.h"

namespace halogen::text {

// [any] `symbols` finds the parts and the results of the merges. A merge of which one is not there
// can never take part in making a token and is left out.
MergeTable vocabulary_merges(const Vocabulary& vocabulary, const TokenIndex& symbols);

}  // namespace halogen::text
