#include "core/model/hyperparameters.h"

#include <cmath>
#include <optional>

#include "core/base/printable.h"

namespace halogen {
namespace {

// Reads keys and remembers the first error, so that the list below reads as a list.
class Reader {
 public:
  explicit Reader(const LoadedModel& model) : model_(model) {}

  uint32_t count(const char* key, std::optional<uint32_t> otherwise, uint32_t maximum) {
    auto value = model_.integer(key);
    if (!value) return refuse(value.error());
    if (!value->has_value()) {
      return otherwise ? *otherwise : refuse(fail(HALOGEN_E_INVALID, missing(key)));
    }
    if (**value <= 0 || **value > maximum) {
      return refuse(fail(HALOGEN_E_INVALID, model_.path() + ": metadata key '" + key + "' is " +
                                                std::to_string(**value) + ", not between 1 and " +
                                                std::to_string(maximum)));
    }
    return static_cast<uint32_t>(**value);
  }

  float number(const char* key, std::optional<float> otherwise) {
    auto value = model_.number(key);
    if (!value) {
      refuse(value.error());
      return 0.0F;
    }
    if (!value->has_value()) {
      if (!otherwise) refuse(fail(HALOGEN_E_INVALID, missing(key)));
      return otherwise.value_or(0.0F);
    }
    if (!std::isfinite(**value) || **value <= 0.0 || **value > 1e30) {
      refuse(fail(HALOGEN_E_INVALID, model_.path() + ": metadata key '" + key + "' is " +
                                         std::to_string(**value) + ", not a positive number"));
      return 0.0F;
    }
    return static_cast<float>(**value);
  }

  std::string text(const char* key, const std::string& otherwise) {
    auto value = model_.text(key);
    if (!value) {
      refuse(value.error());
      return otherwise;
    }
    return value->value_or(otherwise);
  }

  bool boolean(const char* key, bool otherwise) {
    auto value = model_.boolean(key);
    if (!value) {
      refuse(value.error());
      return otherwise;
    }
    return value->value_or(otherwise);
  }

  uint32_t refuse(Error error) {
    if (!error_) error_ = std::move(error);
    return 0;
  }

  std::string missing(const char* key) const {
    return model_.path() + ": metadata key '" + key + "' is missing; the file is incomplete";
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  const LoadedModel& model_;
  std::optional<Error> error_;
};

halogen_rope_attributes read_rope(Reader& read, uint32_t head_dim) {
  halogen_rope_attributes rope{};
  rope.dims = read.count("halogen.rope.dimensions", head_dim, head_dim);
  rope.base = read.number("halogen.rope.base", 10000.0F);
  rope.factor = 1.0F;
  rope.attention_factor = 1.0F;
  rope.beta_fast = 32.0F;
  rope.beta_slow = 1.0F;
  rope.yarn_truncate = 1;

  const std::string pairing = read.text("halogen.rope.pairing", "");
  if (pairing == "adjacent") rope.pairing = HALOGEN_ROPE_ADJACENT;
  if (pairing == "halves") rope.pairing = HALOGEN_ROPE_HALVES;

  const std::string scaling = read.text("halogen.rope.scaling.type", "none");
  if (scaling == "none") return rope;
  rope.factor = read.number("halogen.rope.scaling.factor", 1.0F);
  if (scaling == "linear") {
    rope.scaling = HALOGEN_ROPE_LINEAR;
  } else if (scaling == "yarn") {
    rope.scaling = HALOGEN_ROPE_YARN;
    rope.original_context = read.number("halogen.rope.scaling.original_context", std::nullopt);
    rope.beta_fast = read.number("halogen.rope.scaling.yarn_beta_fast", rope.beta_fast);
    rope.beta_slow = read.number("halogen.rope.scaling.yarn_beta_slow", rope.beta_slow);
    // The paper's temperature, times a factor that a file may add.
    rope.attention_factor = read.number("halogen.rope.scaling.attention_factor", 1.0F) *
                            (1.0F + 0.1F * std::log(rope.factor));
  } else {
    read.refuse(
        fail(HALOGEN_E_UNSUPPORTED, "rope scaling '" + excerpt(scaling) +
                                        "' is not supported; linear and yarn are, and Llama 3's "
                                        "as factors in the file"));
  }
  return rope;
}

}  // namespace

Result<Hyperparameters> read_hyperparameters(const LoadedModel& model) {
  constexpr uint32_t kMany = 1U << 20;
  Reader read(model);
  Hyperparameters h;
  h.architecture = read.text("halogen.architecture", "");
  if (h.architecture.empty() && !read.error()) {
    return fail(HALOGEN_E_INVALID, read.missing("general.architecture"));
  }
  h.layers = read.count("halogen.layers", std::nullopt, 4096);
  h.hidden_size = read.count("halogen.hidden_size", std::nullopt, kMany);
  h.feed_forward_size = read.count("halogen.feed_forward_size", std::nullopt, kMany);
  h.heads = read.count("halogen.attention.heads", std::nullopt, 4096);
  h.kv_heads = read.count("halogen.attention.kv_heads", h.heads, 4096);
  if (read.error()) return *read.error();
  h.head_dim = read.count("halogen.attention.head_dim", h.hidden_size / h.heads, 8192);
  h.value_dim = read.count("halogen.attention.value_dim", h.head_dim, 8192);
  h.context_length = read.count("halogen.context_length", std::nullopt, 1U << 30);
  h.rms_epsilon = read.number("halogen.norm.rms_epsilon", std::nullopt);
  if (read.error()) return *read.error();
  if (h.heads % h.kv_heads != 0) {
    return fail(HALOGEN_E_INVALID, model.path() + ": " + std::to_string(h.heads) +
                                       " attention heads are not a multiple of " +
                                       std::to_string(h.kv_heads) + " KV heads");
  }
  h.rope = read_rope(read, h.head_dim);
  if (model.find("halogen.attention.sliding_window")) {
    auto window = model.integer("halogen.attention.sliding_window");
    if (!window) return window.error();
    if (**window < 0 || **window > (int64_t{1} << 30)) {
      return fail(HALOGEN_E_INVALID,
                  model.path() + ": the sliding window is " + std::to_string(**window));
    }
    h.sliding_window = static_cast<uint32_t>(**window);
  }
  if (read.error()) return within(model.path(), *read.error());

  const halogen_tensor* embedding = model.tensor("token_embedding.weight");
  if (!embedding || embedding->n_dims != 2 || embedding->dims[0] > (int64_t{1} << 24)) {
    return fail(HALOGEN_E_INVALID,
                model.path() +
                    ": the token embedding is missing or not a matrix of at most 16M "
                    "rows; is this a complete language model?");
  }
  h.vocabulary_size = static_cast<uint32_t>(embedding->dims[0]);
  return h;
}

}  // namespace halogen
