// Bytes: a GGUF file. It is opened as it is, and once more with zeros after its end: so a file of a
// few hundred bytes can describe tensors of megabytes that are there. What opens goes on to the
// model's graph, its vocabulary and a tokenizer, as it does when a model is served.
#include <limits>
#include <unordered_set>

#include "halogen/plugin.h"

#include "core/model/model_graph.h"
#include "core/serve/vocabulary_reader.h"
#include "core/text/tokenizer.h"
#include "core/text/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

extern "C" const halogen_plugin halogen_plugin_entry;  // plugins/gguf/plugin.cpp

namespace {

using namespace halogen;

constexpr uint64_t kExtendedBytes = uint64_t{16} << 20;

const halogen_loader_factory& loader() {
  static const auto* factory = static_cast<const halogen_loader_factory*>(
      halogen_plugin_entry.get_factory(HALOGEN_LOADER_KIND));
  return *factory;
}

void check_error(const Error& error, const std::string& path) {
  const std::string& message = error.message;
  fuzz::require(message.starts_with(path + ": "), "an error names the file", message);
  fuzz::require(fuzz::is_one_clean_line(message), "an error is one line of text", message);
  fuzz::require(text::valid_prefix(message) == message.size(), "an error is UTF-8", message);
}

void check_description(const LoadedModel& model, uint64_t file_bytes) {
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < model.tensor_count(); i++) {
    const halogen_tensor& tensor = model.tensor_at(i);
    fuzz::require(tensor.file == 0 && tensor.offset <= file_bytes &&
                      tensor.bytes <= file_bytes - tensor.offset,
                  "a tensor lies within its file", tensor.name);
    fuzz::require(names.insert(tensor.name).second, "a tensor's name is its own", tensor.name);
    fuzz::require(tensor.n_dims >= 1 && tensor.n_dims <= HALOGEN_MAX_DIMS,
                  "a tensor has dimensions", tensor.name);
    int64_t elements = 1;
    for (uint32_t d = 0; d < tensor.n_dims; d++) {
      fuzz::require(
          tensor.dims[d] > 0 && !__builtin_mul_overflow(elements, tensor.dims[d], &elements),
          "a tensor's elements can be counted", tensor.name);
    }
  }
}

void check_vocabulary(const LoadedModel& model) {
  auto vocabulary = read_vocabulary(model);
  if (!vocabulary) return check_error(vocabulary.error(), model.path());
  auto tokenizer = text::Tokenizer::create(std::move(*vocabulary));
  if (!tokenizer) {
    fuzz::require(fuzz::is_one_clean_line(tokenizer.error().message),
                  "an error is one line of text", tokenizer.error().message);
    return;
  }
  std::vector<int32_t> ids;
  const Status encoded = (*tokenizer)
                             ->encode("The quick <|im_end|> 42 \xC3\xBC",
                                      {.add_special = true, .parse_special = true}, ids);
  if (!encoded) return;
  for (const int32_t id : ids) {
    fuzz::require(id >= 0 && static_cast<size_t>(id) < (*tokenizer)->size(), "an id has a token");
  }
  (void)(*tokenizer)->decode(ids);
}

void open_and_check(const std::string& path, uint64_t file_bytes) {
  auto model = LoadedModel::open(loader(), path, nullptr);
  if (!model) return check_error(model.error(), path);
  check_description(*model, file_bytes);
  auto graph = build_model_graph(*model);
  if (!graph) {
    check_error(graph.error(), path);
  } else {
    const Status valid = validate(graph->graph.table());
    fuzz::require(valid.ok(), "a model's graph is valid", valid.ok() ? "" : valid.error().message);
  }
  check_vocabulary(*model);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  open_and_check(file.path(), size);
  file.write(fuzz::text_of(data, size), kExtendedBytes);
  open_and_check(file.path(), kExtendedBytes);
  return 0;
}
