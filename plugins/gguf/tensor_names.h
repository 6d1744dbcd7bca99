// The tensor names of GGUF in halogen's vocabulary.
//
//   GGUF                      halogen
//   token_embd.weight         token_embedding.weight
//   blk.3.attn_q.weight       layers.3.attention.q.weight
//   blk.3.ffn_down_exps.bias  layers.3.feed_forward.experts.down.bias
//
// A name has a base and a suffix (".weight", ".bias", or none); only the base is translated, by the
// tables in tensor_names.cpp. The raw name stays with the tensor.
#pragma once

#include <string>
#include <string_view>

namespace halogen::gguf {

// The normalised name, or an empty text where the tables have none: the caller then uses the raw
// name.
std::string normalised_tensor_name(std::string_view raw);

}  // namespace halogen::gguf
