#include "plugins/gguf/model_checks.h"

#include <algorithm>
#include <optional>
#include <string>

#include "plugins/gguf/metadata_rules.h"
#include "plugins/gguf/text.h"

namespace halogen::gguf {
namespace {

// A normalised key, the GGUF key (without architecture) that an error names, and another normalised
// key that will do instead.
struct Required {
  std::string_view key;
  std::string_view raw;
  std::string_view or_key = {};
};

constexpr Required kRequired[] = {
    {"halogen.layers", "block_count"},
    {"halogen.context_length", "context_length"},
    {"halogen.hidden_size", "embedding_length"},
    {"halogen.attention.heads", "attention.head_count"},
    {"halogen.feed_forward_size", "feed_forward_length", "halogen.expert_feed_forward_size"},
    {"halogen.norm.rms_epsilon", "attention.layer_norm_rms_epsilon", "halogen.norm.epsilon"},
};

class Completion {
 public:
  Completion(std::string_view architecture, NormalisedMetadata& metadata, Failure& failure)
      : architecture_(architecture), metadata_(metadata), failure_(failure) {}

  bool require_all() {
    for (const Required& required : kRequired) {
      if (metadata_.has(required.key)) continue;
      if (!required.or_key.empty() && metadata_.has(required.or_key)) continue;
      return failure_.set(HALOGEN_E_INVALID,
                          concat(raw_key(required.raw), " is missing; convert the model anew"));
    }
    return true;
  }

  bool complete_heads() {
    const Value* heads = metadata_.find("halogen.attention.heads");
    if (!heads) return true;
    metadata_.own("halogen.attention.kv_heads", *heads);
    const Value* kv_heads = metadata_.find("halogen.attention.kv_heads");
    const uint64_t layers = std::max(heads->count, kv_heads->count);
    for (uint64_t layer = 0; layer < layers; layer++) {
      if (!check_layer(of_layer(*heads, layer), of_layer(*kv_heads, layer))) return false;
    }
    return complete_head_dim(*heads);
  }

  bool complete_rope() {
    const std::string_view pairing = rope_pairing(architecture_);
    if (!pairing.empty()) metadata_.own("halogen.rope.pairing", Value::of(pairing));
    const std::string_view order = rope_section_order(architecture_);
    if (!order.empty()) metadata_.own("halogen.rope.section_order", Value::of(order));

    const std::optional<uint64_t> head_dim = metadata_.count("halogen.attention.head_dim");
    if (pairing.empty() && !metadata_.has("halogen.rope.dimensions")) return true;
    metadata_.own("halogen.rope.base", Value::of(10000.0));
    if (head_dim) metadata_.own("halogen.rope.dimensions", Value::of(*head_dim));
    return check_rope_dimensions(head_dim) && complete_rope_scaling();
  }

  bool check_experts() {
    const std::optional<uint64_t> experts = metadata_.count("halogen.experts");
    const std::optional<uint64_t> used = metadata_.count("halogen.experts_used");
    if (!used || *used <= experts.value_or(0)) return true;
    return invalid("expert_used_count",
                   concat("is ", *used, ", but there are ", experts.value_or(0), " experts"));
  }

 private:
  std::string raw_key(std::string_view key) const {
    return concat("key ", in_quotes(concat(architecture_, ".", key)));
  }

  bool invalid(std::string_view key, const std::string& message) {
    return failure_.set(HALOGEN_E_INVALID, concat(raw_key(key), ": ", message));
  }

  // A scalar stands for all layers.
  static uint64_t of_layer(const Value& value, uint64_t layer) {
    return value.unsigned_at(value.is_array ? layer : 0).value_or(0);
  }

  bool check_layer(uint64_t heads, uint64_t kv_heads) {
    if (heads == 0 || kv_heads == 0) return true;  // a layer without attention
    if (heads % kv_heads == 0) return true;
    return invalid("attention.head_count_kv",
                   concat("is ", kv_heads, ", which does not divide the ", heads, " heads"));
  }

  bool complete_head_dim(const Value& heads) {
    const bool known =
        metadata_.has("halogen.attention.head_dim") && metadata_.has("halogen.attention.value_dim");
    const std::optional<uint64_t> hidden = metadata_.count("halogen.hidden_size");
    if (known || !hidden) return true;
    uint64_t of_first = 0;
    for (uint64_t layer = 0; layer < heads.count && of_first == 0; layer++) {
      of_first = of_layer(heads, layer);
    }
    if (of_first == 0) return true;
    if (*hidden % of_first != 0) {
      return invalid("attention.head_count",
                     concat("is ", of_first, ", which does not divide the hidden size ", *hidden,
                            ", and there is no attention.key_length"));
    }
    metadata_.own("halogen.attention.head_dim", Value::of(*hidden / of_first));
    metadata_.own("halogen.attention.value_dim", Value::of(*hidden / of_first));
    return true;
  }

  bool check_rope_dimensions(std::optional<uint64_t> head_dim) {
    const std::optional<uint64_t> dimensions = metadata_.count("halogen.rope.dimensions");
    if (!dimensions) return true;
    if (*dimensions % 2 != 0) {
      return invalid("rope.dimension_count", concat("is ", *dimensions, ", which is odd"));
    }
    if (head_dim && *dimensions > *head_dim) {
      return invalid("rope.dimension_count",
                     concat("is ", *dimensions, ", more than a head's size ", *head_dim));
    }
    return true;
  }

  bool complete_rope_scaling() {
    const bool scaled = metadata_.has("halogen.rope.scaling.factor");
    metadata_.own("halogen.rope.scaling.type",
                  Value::of(std::string_view(scaled ? "linear" : "none")));
    metadata_.own("halogen.rope.scaling.factor", Value::of(1.0));
    const std::string_view type = metadata_.text("halogen.rope.scaling.type");
    if (type == "none" || type == "linear" || type == "yarn" || type == "longrope") return true;
    return failure_.set(HALOGEN_E_UNSUPPORTED,
                        concat(raw_key("rope.scaling.type"), ": is ", in_quotes(type),
                               ", not none, linear, yarn or longrope"));
  }

  std::string_view architecture_;
  NormalisedMetadata& metadata_;
  Failure& failure_;
};

}  // namespace

bool complete_model(const GgufModel& model, std::string_view architecture,
                    NormalisedMetadata& metadata, Failure& failure) {
  Completion completion(architecture, metadata, failure);
  if (!model.tensors.empty() && !completion.require_all()) return false;
  return completion.complete_heads() && completion.complete_rope() && completion.check_experts();
}

}  // namespace halogen::gguf
