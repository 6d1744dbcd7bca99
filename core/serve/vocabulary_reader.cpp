#include "core/serve/vocabulary_reader.h"

#include <string>
#include <utility>

namespace halogen {
namespace {

// Takes the value out of a Result, or remembers its error and leaves the target as it is.
template <typename T>
void take(Result<T> result, T& target, Status& status) {
  if (result) {
    target = std::move(*result);
  } else if (status) {
    status = result.error();
  }
}

void take_id(const LoadedModel& model, const char* key, size_t tokens, text::TokenId& target,
             Status& status) {
  std::optional<int64_t> id;
  take(model.integer(key), id, status);
  if (!id || !status) return;
  if (*id < 0 || static_cast<uint64_t>(*id) >= tokens) {
    status = fail(HALOGEN_E_INVALID, model.path() + ": metadata key '" + key + "' is " +
                                         std::to_string(*id) + ", but the vocabulary has " +
                                         std::to_string(tokens) + " tokens");
    return;
  }
  target = static_cast<text::TokenId>(*id);
}

}  // namespace

Result<text::Vocabulary> read_vocabulary(const LoadedModel& model) {
  text::Vocabulary v;
  Status status;
  std::optional<std::string> kind, pre;
  take(model.text("halogen.tokenizer.model"), kind, status);
  take(model.text("halogen.tokenizer.pre"), pre, status);
  take(model.texts("halogen.tokenizer.tokens"), v.tokens, status);
  take(model.floats("halogen.tokenizer.scores"), v.scores, status);
  take(model.integers("halogen.tokenizer.types"), v.types, status);
  take(model.texts("halogen.tokenizer.merges"), v.merges, status);
  if (!status) return status.error();
  if (!kind || v.tokens.empty()) {
    return fail(HALOGEN_E_INVALID,
                model.path() + ": the file has no vocabulary; halogen needs one to read text");
  }
  v.model = *kind;
  v.pre = pre.value_or("");

  take_id(model, "halogen.tokenizer.bos", v.tokens.size(), v.bos, status);
  take_id(model, "halogen.tokenizer.eos", v.tokens.size(), v.eos, status);
  take_id(model, "halogen.tokenizer.eot", v.tokens.size(), v.eot, status);
  take_id(model, "halogen.tokenizer.eom", v.tokens.size(), v.eom, status);
  take_id(model, "halogen.tokenizer.unk", v.tokens.size(), v.unk, status);
  take_id(model, "halogen.tokenizer.pad", v.tokens.size(), v.pad, status);
  take_id(model, "halogen.tokenizer.sep", v.tokens.size(), v.sep, status);
  take_id(model, "halogen.tokenizer.cls", v.tokens.size(), v.cls, status);
  take(model.boolean("halogen.tokenizer.add_bos"), v.add_bos, status);
  take(model.boolean("halogen.tokenizer.add_eos"), v.add_eos, status);
  take(model.boolean("halogen.tokenizer.add_sep"), v.add_sep, status);
  take(model.boolean("halogen.tokenizer.remove_extra_spaces"), v.remove_extra_spaces, status);
  take(model.boolean("halogen.tokenizer.lowercase"), v.lowercase, status);
  std::vector<int32_t> character_map;
  take(model.integers("halogen.tokenizer.character_map"), character_map, status);
  for (const int32_t byte : character_map) v.character_map.push_back(static_cast<char>(byte));
  std::optional<bool> space_prefix;
  take(model.boolean("halogen.tokenizer.add_space_prefix"), space_prefix, status);
  if (space_prefix) {
    v.space_prefix = *space_prefix ? text::SpacePrefix::kEveryFragment : text::SpacePrefix::kNever;
  }
  if (!status) return status.error();
  if (auto complete = text::complete_vocabulary(v); !complete)
    return within(model.path(), complete.error());
  return v;
}

}  // namespace halogen
