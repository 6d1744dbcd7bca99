// halogen perplexity MODEL FILE: how well a model predicts a text.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "core/bench/table.h"
#include "core/cli/commands.h"
#include "core/cli/measured_model.h"
#include "core/cli/progress_line.h"

namespace halogen::cli {
namespace {

// Rows whose logits one step gives; more would only take memory.
constexpr uint32_t kRows = 64;

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty()) {
    return fail(HALOGEN_E_IO,
                path + ": " + (text.empty() && file ? "it is empty" : std::strerror(errno)));
  }
  return text;
}

Result<bench::Perplexity> measure(const PerplexityArguments& arguments, const ServedModel& model,
                                  const std::string& text) {
  std::vector<int32_t> tokens;
  if (auto encoded = model.tokenizer().encode(text, {}, tokens); !encoded) return encoded.error();
  auto runner = bench::StepRunner::create(model, 1, arguments.options.window);
  if (!runner) return runner.error();
  const text::Vocabulary& vocabulary = model.tokenizer().vocabulary();
  ProgressLine line;
  auto found = bench::measure_perplexity(
      *runner, tokens, vocabulary.add_bos.value_or(false) ? vocabulary.bos : -1, arguments.options,
      [&](uint32_t done, uint32_t all) { line.show("reading the text", double{1} * done / all); });
  line.wipe();
  return found;
}

std::string json_of(const bench::Perplexity& found, const PerplexityArguments& arguments) {
  const nlohmann::ordered_json root{{"perplexity", found.value},
                                    {"standard_error", found.error},
                                    {"window", arguments.options.window},
                                    {"windows", found.windows},
                                    {"predictions", found.predictions}};
  return root.dump(2) + "\n";
}

}  // namespace

int perplexity(const PerplexityArguments& arguments) {
  auto profile = profile_of(arguments.model);
  if (!profile) return report(profile.error());
  start_log(profile->log);
  auto text = read_text(arguments.text);
  if (!text) return report(text.error());
  profile->engine.context = arguments.options.window;
  profile->engine.max_concurrent_requests = kRows;
  auto loaded = load_measured(*profile);
  if (!loaded) return report(loaded.error());
  auto found = measure(arguments, *loaded->model, *text);
  if (!found) return report(within(arguments.text, found.error()));
  if (arguments.json) {
    std::cout << json_of(*found, arguments);
  } else {
    std::cout << "perplexity " << bench::fixed(found->value, 4) << " +- "
              << bench::fixed(found->error, 4) << ", " << found->predictions << " tokens in "
              << found->windows << " windows of " << arguments.options.window << "\n";
  }
  return kSuccess;
}

}  // namespace halogen::cli
