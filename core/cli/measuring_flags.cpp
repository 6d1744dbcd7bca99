#include "core/cli/measuring_flags.h"

#include <CLI/CLI.hpp>

namespace halogen::cli {
namespace {

constexpr int kMost = 1 << 20;  // tokens, streams, requests: more is a slip of the finger

void add_model_flags(CLI::App& command, ModelArguments& arguments) {
  command.add_option("--threads", arguments.threads, "Threads of the cpu backend")
      ->check(CLI::Range(1, 1024));
  command.add_option("--cache-type", arguments.cache_type, "How keys and values are stored");
  command.add_option("--config", arguments.flags.config, "Profile to take settings from");
  command
      .add_option("--set", arguments.flags.assignments,
                  "KEY=VALUE of the profile, such as engine.max_batch_tokens=512")
      ->allow_extra_args(false);
}

CLI::Option* add_list(CLI::App& command, const char* name, std::vector<uint32_t>& values,
                      const char* description) {
  return command.add_option(name, values, description)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
}

void add_offline_flags(CLI::App& command, bench::OfflineOptions& options) {
  add_list(command, "--prefill", options.prefills, "Lengths of prompts to read; 0: none")
      ->check(CLI::Range(0, kMost));
  add_list(command, "--depth", options.depths, "Tokens in the cache before decoding begins")
      ->check(CLI::Range(0, kMost));
  add_list(command, "--batch", options.batches, "Streams that decode together; 0: none")
      ->check(CLI::Range(0, kMost));
  command.add_option("--tokens", options.tokens, "Tokens that each stream decodes")
      ->check(CLI::Range(1, kMost))
      ->capture_default_str();
  command.add_option("--repetitions", options.repetitions, "How often each row is measured")
      ->check(CLI::Range(1, kMost))
      ->capture_default_str();
}

void add_load_flags(CLI::App& command, BenchArguments& arguments) {
  constexpr const char* group = "For a server";
  bench::LoadOptions& load = arguments.load;
  command.add_option("--url", arguments.url, "The server, such as http://127.0.0.1:8080")
      ->group(group);
  command
      .add_option("--name", load.model,
                  "The model's name in requests; else the first that the server names")
      ->group(group);
  command.add_option("--api-key", load.api_key, "Key that the server asks for")
      ->envname("HALOGEN_API_KEY")
      ->group(group);
  const auto count = [&](const char* name, uint32_t& value, const char* description, int least) {
    command.add_option(name, value, description)
        ->check(CLI::Range(least, kMost))
        ->capture_default_str()
        ->group(group);
  };
  count("--streams", load.streams, "Requests that run at once at most", 1);
  count("--requests", load.requests, "Requests in all", 1);
  count("--prompt-tokens", load.prompt_tokens, "Length of a prompt", 1);
  count("--shared-tokens", load.shared_tokens, "Of them, those with which every prompt begins", 0);
  count("--answer-tokens", load.answer_tokens, "Length of an answer", 1);
  count("--token-ids", load.token_ids, "Prompts are random ids below this", 2);
  command
      .add_option("--rate", load.rate,
                  "Requests that arrive per second, at random; else each follows when a stream is "
                  "free")
      ->check(CLI::Range(0.0, 1e6))
      ->group(group);
  command.add_option("--seed", load.seed, "Of prompts and arrivals")
      ->capture_default_str()
      ->group(group);
}

}  // namespace

CLI::App* add_bench(CLI::App& app, BenchArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "bench", "Measure a model on this machine, or a running server under load");
  CLI::Option* model = command->add_option("model", arguments.model.model, "Model file");
  add_offline_flags(*command, arguments.offline);
  add_model_flags(*command, arguments.model);
  add_load_flags(*command, arguments);
  model->excludes(command->get_option("--url"));
  command->add_flag("--json", arguments.output.json, "The figures as JSON");
  command->add_flag("--markdown", arguments.output.markdown, "The table as Markdown");
  command->footer(
      "A ceiling is what this machine could do at most: its measured bandwidth over the bytes that "
      "must be read,\nor its measured arithmetic over the operations that must be done, whichever "
      "is less.");
  return command;
}

CLI::App* add_plan(CLI::App& app, PlanArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "plan", "Say whether a model fits and how fast it can be, before it is loaded");
  command->add_option("model", arguments.model.model, "Model file")->required();
  command->add_option("--memory", arguments.memory,
                      "Memory of the machine to plan for, such as 128G; else this machine's");
  command
      ->add_option("--bandwidth", arguments.bandwidth,
                   "Its memory bandwidth in GB/s (10^9 bytes); else this machine's, measured")
      ->check(CLI::PositiveNumber);
  add_model_flags(*command, arguments.model);
  command->add_flag("--json", arguments.json, "The plan as JSON");
  command->footer("Exit status: 0 it fits, 1 it does not or cannot be read.");
  return command;
}

CLI::App* add_perplexity(CLI::App& app, PerplexityArguments& arguments) {
  CLI::App* command = app.add_subcommand("perplexity", "Measure how well a model predicts a text");
  command->add_option("model", arguments.model.model, "Model file")->required();
  command->add_option("text", arguments.text, "The file with the text")->required();
  command
      ->add_option("--window", arguments.options.window,
                   "Tokens that are read together; those of the second half count")
      ->check(CLI::Range(2, kMost))
      ->capture_default_str();
  command->add_flag("--whole", arguments.options.whole,
                    "Count all predictions in a window, not only those of its second half");
  add_model_flags(*command, arguments.model);
  command->add_flag("--json", arguments.json, "The figures as JSON");
  return command;
}

}  // namespace halogen::cli
