#include "core/check/suite.h"

#include <algorithm>
#include <exception>

#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "halogen/backend.h"
#include "halogen/loader.h"
#include "halogen/sampler.h"
#include "halogen/scheduler.h"

#include "core/base/log.h"
#include "core/check/abi/abi_cases.h"
#include "core/check/backend/backend_cases.h"
#include "core/check/child_process.h"
#include "core/check/loader/loader_cases.h"
#include "core/check/sampler/sampler_cases.h"
#include "core/check/scheduler/scheduler_cases.h"

namespace halogen::check {
namespace {

using Json = nlohmann::json;

// A plugin that crashes in everything would take the suite an hour.
constexpr size_t kMostDeaths = 100;

Outcome judge(const Case& one, Subject& subject) {
  try {
    return one.run(subject);
  } catch (const std::bad_alloc&) {
    return Outcome::failed("memory ran out");
  } catch (const std::exception& error) {
    return Outcome::failed(std::string("an exception left the plugin or the case: ") +
                           error.what());
  }
}

std::string encode(const Outcome& outcome) {
  const Json json = {{"verdict", static_cast<int>(outcome.verdict)},
                     {"sentence", outcome.sentence},
                     {"measure", outcome.measure},
                     {"share", std::min(outcome.share, 1e30)}};  // JSON has no infinity
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome decode(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return Outcome::failed("the child process wrote something else");
  return {static_cast<Verdict>(json.value("verdict", 1)), json.value("sentence", ""),
          json.value("measure", ""), json.value("share", 0.0)};
}

void quieten() {
  LogOptions log;
  log.level = LogLevel::off;
  log_init(log);
}

// A folder for the files of a run, gone with it.
class Scratch {
 public:
  Scratch() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "halogen-check-XXXXXX").string();
    if (::mkdtemp(pattern.data())) path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Result<ChildProcess> start_from(const Options& options, const std::filesystem::path& scratch,
                                const std::vector<Case>& cases, size_t first) {
  return ChildProcess::start([&, first](const ChildProcess::Tell& tell) {
    quieten();
    Subject subject(options, scratch);
    for (size_t i = first; i < cases.size(); i++) tell(encode(judge(cases[i], subject)));
    ::_exit(0);  // the subject's threads are not waited for: a plugin may have hung them
  });
}

bool matches(const std::string& glob, const Case& one) {
  return ::fnmatch(glob.c_str(), one.full_name().c_str(), 0) == 0;
}

// What is required must have been judged.
Outcome demanded(const Options& options, const Case& one, Outcome outcome) {
  const bool left_out = outcome.verdict == Verdict::skip || outcome.verdict == Verdict::unsupported;
  if (!left_out || std::none_of(options.required.begin(), options.required.end(),
                                [&](const std::string& glob) { return matches(glob, one); }))
    return outcome;
  const char* how = outcome.verdict == Verdict::skip ? "skipped: " : "unsupported: ";
  return Outcome::failed(std::string("it is required, but ") + how + outcome.sentence);
}

// "did not end within 30 s", "crashed with SIGSEGV"
Outcome death(ChildProcess& child, ChildProcess::Event event, const Case& one) {
  std::string how = child.finish();
  if (event == ChildProcess::Event::late)
    how = "did not end within " + std::to_string(one.limit.count()) + " s";
  if (how.empty()) how = "ended the process";
  return Outcome::failed("the plugin " + how + " in this case");
}

}  // namespace

std::vector<Case> cases_for(const Options& options) {
  std::vector<Case> all;
  const Manifest& manifest = options.plugin.manifest;
  const auto wanted = [&](const char* kind) {
    return manifest.has_kind(kind) && (options.kind.empty() || options.kind == kind_word(kind));
  };
  if (options.kind.empty() || options.kind == "abi") add_abi_cases(options, all);
  if (wanted(HALOGEN_BACKEND_KIND)) add_backend_cases(options, all);
  if (wanted(HALOGEN_LOADER_KIND)) add_loader_cases(options, all);
  if (wanted(HALOGEN_SAMPLER_KIND)) add_sampler_cases(options, all);
  if (wanted(HALOGEN_SCHEDULER_KIND)) add_scheduler_cases(options, all);
  std::erase_if(all, [&](const Case& one) {
    return (options.quick && !one.quick) || !matches(options.filter, one);
  });
  return all;
}

Status check_required(const Options& options) {
  Options everything = options;
  everything.filter = "*";
  everything.quick = false;
  const std::vector<Case> cases = cases_for(everything);
  for (const std::string& glob : options.required)
    if (std::none_of(cases.begin(), cases.end(),
                     [&](const Case& one) { return matches(glob, one); }))
      return fail(HALOGEN_E_NOT_FOUND, "--require " + glob + ": no case is called so");
  return {};
}

Status run(const Options& options, const std::vector<Case>& cases,
           const std::function<void(const Judged&)>& judged) {
  const Scratch scratch;
  if (scratch.path().empty())
    return fail(HALOGEN_E_IO, std::filesystem::temp_directory_path().string() +
                                  ": no folder for the files of the run can be made there");
  size_t next = 0, deaths = 0;
  while (next < cases.size()) {
    if (deaths == kMostDeaths) {
      for (; next < cases.size(); next++)
        judged({cases[next].full_name(),
                demanded(options, cases[next],
                         Outcome::skipped("not run after " + std::to_string(deaths) +
                                          " crashed or hung cases"))});
      break;
    }
    auto child = start_from(options, scratch.path(), cases, next);
    if (!child) return child.error();
    while (next < cases.size()) {
      const Case& one = cases[next];
      const ChildProcess::News news = child->wait(one.limit);
      const bool said = news.event == ChildProcess::Event::line;
      judged({one.full_name(),
              said ? demanded(options, one, decode(news.line)) : death(*child, news.event, one)});
      next++;
      if (said) continue;
      deaths++;
      break;
    }
  }
  return {};
}

Introduction introduce(const Options& options) {
  Introduction introduction;
  auto child = ChildProcess::start([&](const ChildProcess::Tell& tell) {
    quieten();
    Subject subject(options, {});
    const auto say = [&](const char* what, const std::string& line) {
      tell(Json({{what, line}}).dump(-1, ' ', false, Json::error_handler_t::replace));
    };
    for (const std::string& line : abi_introduction(subject)) say("line", line);
    if (auto valid = check_settings(subject); !valid) say("mistake", valid.error().message);
    if (options.plugin.manifest.has_kind(HALOGEN_BACKEND_KIND))
      for (const std::string& line : backend_introduction(subject)) say("line", line);
    ::_exit(0);
  });
  if (!child) return introduction;
  while (true) {
    const ChildProcess::News news = child->wait(std::chrono::seconds(30));
    if (news.event != ChildProcess::Event::line) return introduction;
    const Json said = Json::parse(news.line, nullptr, false);
    if (said.is_discarded()) continue;
    if (said.contains("line")) introduction.lines.push_back(said["line"]);
    if (said.contains("mistake")) introduction.mistake = said["mistake"];
  }
}

}  // namespace halogen::check
