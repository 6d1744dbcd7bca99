// The halogen program: picks the subcommand. Called as halogen-flash-server it is `halogen serve`.
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "core/cli/commands.h"
#include "core/cli/measuring_flags.h"

namespace {

using halogen::FlagValues;
namespace cli = halogen::cli;

constexpr const char* kServerName = "halogen-flash-server";

// A subcommand with a flag for every setting.
CLI::App* with_flags(CLI::App& app, const char* name, const char* description, FlagValues& flags) {
  CLI::App* command = app.add_subcommand(name, description);
  halogen::add_profile_flags(*command, flags);
  return command;
}

CLI::App* add_check(CLI::App& app, cli::CheckArguments& arguments) {
  CLI::App* check = app.add_subcommand("check", "Run the conformance suite on a plugin");
  check
      ->add_option("plugin", arguments.plugin,
                   "Its id, what a profile calls it, its manifest, or its shared object with the "
                   "manifest beside it")
      ->required();
  check->add_option("--kind", arguments.kind, "Only these cases; abi: what holds for every plugin")
      ->check(CLI::IsMember({"abi", "backend", "loader", "sampler", "scheduler"}));
  check->add_option("--filter", arguments.filter,
                    "Only cases whose name matches, such as 'backend/linear/Q4_K/*'");
  check
      ->add_option("--require", arguments.required,
                   "Cases, as for --filter, that fail where they are unsupported or skipped")
      ->allow_extra_args(false);
  check->add_option("--set", arguments.settings, "KEY=VALUE of the plugin's own settings");
  check->add_option("--model", arguments.models,
                    "For a loader: a good file, or the folder of one, that it has to describe");
  check->add_option("--plugin-path", arguments.folders,
                    "Folder of manifests to search before the usual ones");
  check
      ->add_option("--precision", arguments.precision,
                   "For a backend, what is demanded of it: f32: floats everywhere; q8: activations "
                   "may be rounded to 8 bits in products with quantised weights; f16: results may "
                   "be held in halves")
      ->check(CLI::IsMember({"f32", "q8", "f16"}))
      ->capture_default_str();
  check->add_option("--seed", arguments.seed, "Of all random inputs")->capture_default_str();
  check->add_flag("--quick", arguments.quick, "A choice of the cases, for a few seconds");
  check->add_flag("--verbose", arguments.verbose, "A line for each case instead of each group");
  check->add_flag("--json", arguments.json, "The report as JSON");
  check->add_flag("--list", arguments.list, "Only name the cases");
  check->footer(
      "The plugin runs in child processes: where it crashes or hangs, that case has failed and the "
      "next one goes on.\nExit status: 0 nothing failed, 1 something failed, 2 the suite could not "
      "run,\nor could judge no case of one of the chosen kinds (such as a backend without its "
      "device).");
  return check;
}

// The subcommands that come later, so that nobody takes them for misspelt.
void refuse_later_commands(CLI::App& app) {
  for (const char* name : {"doctor", "tune", "convert"}) {
    CLI::App* command = app.add_subcommand(name, "")->group("");
    command->allow_extras();
    command->callback([name] {
      std::cerr << "halogen: the command '" << name << "' is not available in this version\n";
      throw CLI::RuntimeError(cli::kUsage);
    });
  }
}

// Nothing, or the exit status where the command line is all there was to it: help, or a mistake.
std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kSuccess : cli::kUsage;
  }
}

int run_server_alone(int argc, char** argv) {
  CLI::App app(
      "Serves a language model over HTTP with an OpenAI-compatible API; the same as 'halogen "
      "serve'.",
      kServerName);
  app.set_version_flag("--version", std::string("halogen ") + HALOGEN_VERSION);
  FlagValues flags;
  halogen::add_profile_flags(app, flags);
  if (const auto ended = parse(app, argc, argv)) return *ended;
  return cli::serve(flags);
}

int run_subcommand(int argc, char** argv) {
  CLI::App app("halogen serves language models to many people at once.", "halogen");
  app.set_version_flag("--version", std::string("halogen ") + HALOGEN_VERSION);
  app.require_subcommand(1);
  int status = cli::kSuccess;

  FlagValues serve_flags;
  with_flags(app, "serve", "Serve a model over HTTP, with an OpenAI-compatible API", serve_flags)
      ->callback([&] { status = cli::serve(serve_flags); });

  FlagValues run_flags;
  cli::RunArguments run_arguments;
  CLI::App* run = app.add_subcommand("run", "Answer one prompt in the terminal");
  run->add_option("model", run_arguments.model, "Model file")->required();
  run->add_option("prompt", run_arguments.prompt,
                  "What to answer; standard input if it is left out");
  run->add_option("--max-tokens", run_arguments.max_tokens, "Longest answer");
  run->add_option("--temperature", run_arguments.temperature,
                  "0 takes the likeliest token every time")
      ->check(CLI::Range(0.0, 2.0));
  run->add_option("--seed", run_arguments.seed, "The same seed gives the same answer");
  run->add_flag("--raw", run_arguments.raw,
                "Give the model the prompt as it is, without its chat template");
  run->add_option("--config", run_flags.config, "Profile to take settings from");
  run->add_option("--set", run_flags.assignments,
                  "KEY=VALUE of the profile, such as engine.context=4096");
  run->callback([&] { status = cli::run(run_flags, run_arguments); });

  FlagValues plugin_flags;
  cli::InspectArguments inspect_arguments;
  CLI::App* plugins =
      with_flags(app, "plugins", "List the plugins that there are, or inspect one", plugin_flags);
  CLI::App* inspect = plugins->add_subcommand(
      "inspect",
      "Read a plugin's file without loading it: what it is, what it needs, whether it agrees with "
      "its manifest, and whether this halogen would take it (exit status 0) or not (1)");
  inspect->formatter(std::make_shared<CLI::Formatter>());  // not the one for profile flags
  inspect->add_option("file", inspect_arguments.file, "The plugin's shared object or its manifest")
      ->required();
  inspect->add_option("--manifest", inspect_arguments.manifest,
                      "Manifest to compare with; else the one that names the file, beside it or on "
                      "the search path");
  inspect->add_flag("--json", inspect_arguments.json, "Answer as JSON");
  plugins->callback([&] {
    status = inspect->parsed() ? cli::inspect(inspect_arguments) : cli::list_plugins(plugin_flags);
  });

  FlagValues config_flags;
  with_flags(app, "config", "Show the effective profile and where each value comes from",
             config_flags)
      ->callback([&] { status = cli::show_config(config_flags); });

  cli::CheckArguments check_arguments;
  add_check(app, check_arguments)->callback([&] {
    status = cli::check_plugin(check_arguments, HALOGEN_VERSION);
  });

  cli::BenchArguments bench_arguments;
  cli::add_bench(app, bench_arguments)->callback([&] { status = cli::bench(bench_arguments); });
  cli::PlanArguments plan_arguments;
  cli::add_plan(app, plan_arguments)->callback([&] { status = cli::plan(plan_arguments); });
  cli::PerplexityArguments perplexity_arguments;
  cli::add_perplexity(app, perplexity_arguments)->callback([&] {
    status = cli::perplexity(perplexity_arguments);
  });

  refuse_later_commands(app);
  if (const auto ended = parse(app, argc, argv)) return *ended;
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool server = argc > 0 && std::filesystem::path(argv[0]).filename() == kServerName;
    return server ? run_server_alone(argc, argv) : run_subcommand(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "halogen: " << error.what() << '\n';
    return cli::kFailure;
  }
}
