// halogen check PLUGIN: the conformance suite, and a report that can be put into a bug.
#include <iostream>

#include "core/check/find_plugin.h"
#include "core/check/report.h"
#include "core/check/suite.h"
#include "core/cli/commands.h"
#include "core/cli/runtime.h"
#include "core/host/search_path.h"

namespace halogen::cli {
namespace {

constexpr int kCouldNotRun = 2;

reference::Precision precision_of(const std::string& word) {
  if (word == "f32") return reference::Precision::f32;
  return word == "f16" ? reference::Precision::f16 : reference::Precision::q8;
}

Result<check::Options> read(const CheckArguments& arguments) {
  check::Options options;
  auto folders = make_search_path(search_path_inputs(arguments.folders));
  if (!folders) return folders.error();
  auto plugin = check::find_plugin(arguments.plugin, std::move(*folders));
  if (!plugin) return plugin.error();
  options.plugin = std::move(*plugin);
  for (const std::string& assignment : arguments.settings) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(HALOGEN_E_INVALID, "--set " + assignment + ": it must be KEY=VALUE");
    options.settings.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  for (const std::string& model : arguments.models)
    options.models.push_back(std::filesystem::absolute(model));
  options.kind = arguments.kind;
  options.filter = arguments.filter;
  options.required = arguments.required;
  options.seed = arguments.seed;
  options.quick = arguments.quick;
  options.precision = precision_of(arguments.precision);
  if (auto known = check::check_required(options); !known) return known.error();
  return options;
}

int could_not_run(const Error& error) {
  report(error);
  return kCouldNotRun;
}

}  // namespace

int check_plugin(const CheckArguments& arguments, const char* version) {
  auto options = read(arguments);
  if (!options) return could_not_run(options.error());
  const std::vector<check::Case> cases = check::cases_for(*options);
  if (cases.empty())
    return could_not_run(
        fail(HALOGEN_E_NOT_FOUND, "no case is called '" + arguments.filter +
                                      "' for the kinds of this plugin; --list names them"));
  if (arguments.list) {
    for (const check::Case& one : cases) std::cout << one.full_name() << '\n';
    return kSuccess;
  }

  const auto started = std::chrono::steady_clock::now();
  check::Introduction introduction = check::introduce(*options);
  if (!introduction.mistake.empty())
    return could_not_run(fail(HALOGEN_E_INVALID, introduction.mistake));
  check::Report report(
      {version, arguments.plugin, std::move(introduction.lines), arguments.folders}, *options);
  if (!arguments.json) std::cout << report.head() << std::flush;
  auto ran = check::run(*options, cases, [&](const check::Judged& judged) { report.add(judged); });
  if (!ran) return could_not_run(ran.error());
  const auto took = std::chrono::steady_clock::now() - started;
  std::cout << (arguments.json ? report.json(took) : report.body(arguments.verbose, took));
  if (report.count(check::Verdict::fail) > 0) return kFailure;
  if (const auto kinds = report.unjudged_kinds(); !kinds.empty())
    return could_not_run(fail(HALOGEN_E_UNSUPPORTED, "no case of the kind '" + kinds[0] +
                                                         "' could be judged; the report says why"));
  return kSuccess;
}

}  // namespace halogen::cli
