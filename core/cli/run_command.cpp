// halogen run MODEL "prompt": a first look at a model in the terminal, without a server.
#include <iostream>
#include <iterator>
#include <random>

#include <nlohmann/json.hpp>

#include "core/cli/commands.h"
#include "core/cli/progress_line.h"
#include "core/cli/runtime.h"
#include "core/config/load.h"
#include "core/serve/served_model.h"
#include "core/text/template/conversation.h"

namespace halogen::cli {
namespace {

// The prompt as the model wants it: a conversation of one message where it has a template.
Result<std::vector<int32_t>> read_prompt(const ServedModel& model, const RunArguments& arguments,
                                         const std::string& prompt) {
  if (!arguments.raw && model.chat_template()) {
    const nlohmann::ordered_json messages = {{{"role", "user"}, {"content", prompt}}};
    return render_conversation(model.tokenizer(), *model.chat_template(), messages, nullptr, true);
  }
  std::vector<int32_t> ids;
  if (auto encoded =
          model.tokenizer().encode(prompt, {.add_special = true, .parse_special = true}, ids);
      !encoded) {
    return encoded.error();
  }
  return ids;
}

// Generates on a loop of its own and writes the text as it comes.
Status generate(Runtime& runtime, const ServedModel& model, GenerationRequest request) {
  auto engine = Engine::start(runtime.loop(), model.parts(), model.limits());
  if (!engine) return engine.error();
  Status outcome;
  auto id = (*engine)->submit(std::move(request), [&](const GenerationEvent& event) {
    std::cout << event.text << std::flush;
    if (event.finish == FinishReason::none) return;
    if (event.finish == FinishReason::error) outcome = fail(HALOGEN_E_INTERNAL, event.error);
    runtime.loop().stop();
  });
  if (!id) return id.error();
  runtime.loop().run();
  std::cout << '\n';
  return outcome;
}

}  // namespace

int run(const FlagValues& flags, const RunArguments& arguments) {
  auto profile = load_profile(flags, process_environment());
  if (!profile) return report(profile.error());
  profile->model.path = arguments.model;
  profile->log.level = std::max(profile->log.level, LogLevel::warning);
  start_log(profile->log);
  std::string prompt = arguments.prompt;
  if (prompt.empty()) prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
  if (prompt.empty())
    return report(
        fail(HALOGEN_E_INVALID, "there is no prompt; give one, or write it to standard input"));

  auto runtime = Runtime::create(*profile);
  if (!runtime) return report(runtime.error());
  ProgressLine line;
  auto model = ServedModel::load(
      *profile, (*runtime)->plugins(),
      [&line](const char* stage, double fraction) { return line.show(stage, fraction); });
  line.wipe();
  if (!model) return report(model.error());
  auto ids = read_prompt(**model, arguments, prompt);
  if (!ids) return report(ids.error());

  GenerationRequest request;
  request.prompt = std::move(*ids);
  request.sampling = (*model)->sampling();
  if (arguments.temperature >= 0)
    request.sampling.temperature = static_cast<float>(arguments.temperature);
  request.sampling.seed =
      arguments.seed >= 0 ? static_cast<uint64_t>(arguments.seed) : std::random_device{}();
  request.max_tokens = arguments.max_tokens;
  if (auto status = generate(**runtime, **model, std::move(request)); !status)
    return report(status.error());
  return kSuccess;
}

}  // namespace halogen::cli
