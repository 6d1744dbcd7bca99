#include "plugins/gguf/gguf_metadata.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "plugins/gguf/metadata_rules.h"
#include "plugins/gguf/model_checks.h"
#include "plugins/gguf/text.h"
#include "plugins/gguf/vocabulary_checks.h"

namespace halogen::gguf {
namespace {

bool wrong_type(const Value& value, std::string_view wanted, Failure& failure) {
  return failure.set(HALOGEN_E_INVALID,
                     concat("is of type ", value.description(), ", not ", wanted));
}

std::string short_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", number);
  return text;
}

// "at least 1", "from 1 to 1000000", "more than 0", "at most 1".
std::string bounds_text(const Rule& rule) {
  const bool has_most = rule.most < kUnbounded;
  const std::string most = short_number(rule.most);
  if (rule.least == kAboveZero) return "more than 0" + (has_most ? " and at most " + most : "");
  if (rule.least <= -kUnbounded) return "at most " + most;
  const std::string least = short_number(rule.least);
  return has_most ? concat("from ", least, " to ", most) : "at least " + least;
}

bool check_bounds(const Rule& rule, double number, Failure& failure) {
  if (number >= rule.least && number <= rule.most) return true;
  return failure.set(HALOGEN_E_INVALID,
                     concat("is ", short_number(number), ", but must be ", bounds_text(rule)));
}

bool convert_count(const Rule& rule, const Value& value, Value& out, Failure& failure) {
  const std::optional<int64_t> number = value.is_array ? std::nullopt : value.signed_at(0);
  const std::optional<uint64_t> large = value.is_array ? std::nullopt : value.unsigned_at(0);
  if (!number && !large) return wrong_type(value, "an integer", failure);
  if (!check_bounds(rule, *value.real_at(0), failure)) return false;
  out = rule.kind == Kind::integer ? Value::of(*number) : Value::of(*large);
  return true;
}

bool convert_real(const Rule& rule, const Value& value, Value& out, Failure& failure) {
  const std::optional<double> number = value.is_array ? std::nullopt : value.real_at(0);
  if (!number) return wrong_type(value, "a number", failure);
  if (!std::isfinite(*number)) return failure.set(HALOGEN_E_INVALID, "is not a finite number");
  if (!check_bounds(rule, *number, failure)) return false;
  out = Value::of(*number);
  return true;
}

std::optional<uint64_t> layer_element(const Rule& rule, const Value& value, uint64_t index) {
  if (rule.kind == Kind::layer_pattern && value.type == ValueType::boolean) {
    return static_cast<uint64_t>(value.bytes[index]);
  }
  return value.unsigned_at(index);
}

bool convert_layers(const Rule& rule, const Value& value, std::optional<uint64_t> layers,
                    Value& out, Failure& failure) {
  if (!value.is_array) return convert_count(rule, value, out, failure);
  if (!layers || value.count != *layers) {
    return failure.set(HALOGEN_E_INVALID, concat("has ", value.count, " elements for ",
                                                 layers.value_or(0), " layers"));
  }
  std::vector<uint64_t> numbers;
  bool equal = true;
  for (uint64_t i = 0; i < value.count; i++) {
    const std::optional<uint64_t> number = layer_element(rule, value, i);
    if (!number) return wrong_type(value, "an array of counts", failure);
    if (*number != 0 && !check_bounds(rule, static_cast<double>(*number), failure)) {
      return failure.within(concat("element ", i));
    }
    numbers.push_back(*number);
    equal = equal && *number == numbers[0];
  }
  if (!equal || rule.kind == Kind::layer_pattern) {
    out = Value::of(std::span<const uint64_t>(numbers));
    return true;
  }
  out = Value::of(numbers[0]);
  return check_bounds(rule, static_cast<double>(numbers[0]), failure);
}

bool convert_choice(const Rule& rule, const Value& value, Value& out, Failure& failure) {
  const std::optional<uint64_t> number = value.is_array ? std::nullopt : value.unsigned_at(0);
  if (!number) return wrong_type(value, "an integer", failure);
  if (*number >= rule.choices.size() || rule.choices[*number].empty()) {
    return failure.set(HALOGEN_E_UNSUPPORTED, concat("is ", *number, ", which is not known"));
  }
  out = Value::of(rule.choices[*number]);
  return true;
}

bool convert_text(const Value& value, Value& out, Failure& failure) {
  if (!value.is_scalar(ValueType::string)) return wrong_type(value, "a string", failure);
  if (!is_utf8(value.text_at(0))) return failure.set(HALOGEN_E_INVALID, "is not UTF-8");
  out = value;
  return true;
}

bool convert_token_id(const Value& value, std::optional<Value>& out, Failure& failure) {
  if (value.is_array || (!value.unsigned_at(0) && !value.signed_at(0))) {
    return wrong_type(value, "a token id", failure);
  }
  const std::optional<int64_t> number = value.signed_at(0);
  if (number == -1 || number == int64_t{0xFFFFFFFF}) return true;
  if (!value.unsigned_at(0)) return failure.set(HALOGEN_E_INVALID, "is a negative token id");
  out = Value::of(*value.unsigned_at(0));
  return true;
}

bool is_reals(const Value& value) {
  return value.is_array_of(ValueType::f32) || value.is_array_of(ValueType::f64);
}

bool is_integers(const Value& value) {
  return value.is_array && !is_reals(value) && value.type != ValueType::boolean &&
         value_type_bytes(value.type) != 0;
}

bool apply(const Rule& rule, const Value& value, NormalisedMetadata& metadata, Failure& failure) {
  std::optional<Value> out;
  const auto into = [&out]() -> Value& { return out.emplace(); };
  switch (rule.kind) {
    case Kind::count:
    case Kind::integer:
      if (!convert_count(rule, value, into(), failure)) return false;
      break;
    case Kind::layer_counts:
    case Kind::layer_pattern:
      if (!convert_layers(rule, value, metadata.count("halogen.layers"), into(), failure)) {
        return false;
      }
      break;
    case Kind::real:
      if (!convert_real(rule, value, into(), failure)) return false;
      break;
    case Kind::flag:
      if (!value.is_scalar(ValueType::boolean)) return wrong_type(value, "a bool", failure);
      out = value;
      break;
    case Kind::text:
      if (!convert_text(value, into(), failure)) return false;
      break;
    case Kind::choice:
      if (!convert_choice(rule, value, into(), failure)) return false;
      break;
    case Kind::token_id:
      if (!convert_token_id(value, out, failure)) return false;
      break;
    case Kind::texts:
      if (!value.is_array_of(ValueType::string)) {
        return wrong_type(value, "an array of strings", failure);
      }
      metadata.borrow(rule.to, value);
      break;
    case Kind::reals:
      if (!is_reals(value)) return wrong_type(value, "an array of reals", failure);
      metadata.borrow(rule.to, value);
      break;
    case Kind::integers:
      if (!is_integers(value)) return wrong_type(value, "an array of integers", failure);
      metadata.borrow(rule.to, value);
      break;
  }
  if (out) metadata.own(rule.to, std::move(*out));
  return true;
}

bool apply_rules(std::span<const Rule> rules, const std::string& prefix, const GgufModel& model,
                 NormalisedMetadata& metadata, Failure& failure) {
  for (const Rule& rule : rules) {
    const std::string key = concat(prefix, rule.from);
    const Value* value = find_value(model.metadata, key);
    if (value && !apply(rule, *value, metadata, failure)) {
      return failure.within(concat("key ", in_quotes(key)));
    }
  }
  return true;
}

// Models may have several templates: tokenizer.chat_template.rerank, .tool_use.
bool apply_named_templates(const GgufModel& model, NormalisedMetadata& metadata, Failure& failure) {
  constexpr std::string_view kPrefix = "tokenizer.chat_template.";
  for (const KeyValue& entry : model.metadata) {
    if (!entry.key.starts_with(kPrefix)) continue;
    Value text;
    if (!convert_text(entry.value, text, failure)) {
      return failure.within(concat("key ", in_quotes(entry.key)));
    }
    const std::string_view name = std::string_view(entry.key).substr(kPrefix.size());
    metadata.own(concat("halogen.chat_template.", name), std::move(text));
  }
  return true;
}

// Adapters, importance matrices and vision projectors are GGUF files too.
bool check_file_kind(const GgufModel& model, Failure& failure) {
  const Value* kind = find_value(model.metadata, "general.type");
  if (!kind || !kind->is_scalar(ValueType::string)) return true;
  const std::string_view text = kind->text_at(0);
  if (text != "adapter" && text != "imatrix" && text != "mmproj") return true;
  return failure.set(HALOGEN_E_UNSUPPORTED,
                     concat("key 'general.type': the file is of kind ", in_quotes(text),
                            "; name the file of the model itself"));
}

bool check_architecture(const GgufModel& model, const NormalisedMetadata& metadata,
                        Failure& failure) {
  const bool present = metadata.has("halogen.architecture");
  if (!present && model.tensors.empty()) return true;
  if (!present) {
    return failure.set(HALOGEN_E_INVALID,
                       "key 'general.architecture' is missing, so it is not known what the tensors "
                       "are; convert the model anew");
  }
  if (metadata.text("halogen.architecture").empty()) {
    return failure.set(HALOGEN_E_INVALID, "key 'general.architecture': is an empty text");
  }
  return true;
}

bool normalise(const GgufModel& model, NormalisedMetadata& metadata, Failure& failure) {
  if (!check_file_kind(model, failure) ||
      !apply_rules(general_rules(), "", model, metadata, failure) ||
      !check_architecture(model, metadata, failure)) {
    return false;
  }
  const std::string architecture(metadata.text("halogen.architecture"));
  if (!apply_rules(tokenizer_rules(), "", model, metadata, failure)) return false;
  // Before <arch>.vocab_size: the embedding has a row for each token, whatever that key says.
  if (const Value* tokens = metadata.find("halogen.tokenizer.tokens")) {
    metadata.own("halogen.vocabulary_size", Value::of(tokens->count));
  }
  return apply_rules(architecture_rules(), architecture + ".", model, metadata, failure) &&
         apply_named_templates(model, metadata, failure) &&
         complete_model(model, architecture, metadata, failure) &&
         complete_vocabulary(model, metadata, failure);
}

}  // namespace

bool normalise_metadata(const GgufModel& model, NormalisedMetadata& metadata, Failure& failure) {
  metadata = {};
  return normalise(model, metadata, failure) || failure.within(model.files.at(0));
}

}  // namespace halogen::gguf
