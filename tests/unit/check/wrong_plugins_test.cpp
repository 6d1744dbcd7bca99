// The suite finds what is wrong: each deliberate fault of a plugin fails the case that is about it,
// and a plugin without a fault fails nothing.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/check/find_plugin.h"
#include "core/check/suite.h"

namespace halogen::check {
namespace {

// The cases in which the fault "hang" of a plugin shows.
const std::set<std::string> kHanging = {"backend/norm/l2/plain", "loader/cut/tiny.gguf/at-204"};

using Failures = std::map<std::string, std::string>;  // name -> sentence

struct RunResult {
  Failures failures;
  std::map<std::string, Verdict> verdicts;

  // Whether every failed case belongs to one of these groups.
  bool only(const std::vector<std::string>& groups) const {
    return std::all_of(failures.begin(), failures.end(), [&](const auto& failure) {
      return std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
        return failure.first.starts_with(group);
      });
    });
  }
};

Options options_for(const std::string& plugin) {
  Options options;
  auto found = find_plugin(std::string(HALOGEN_WRONG_PLUGINS) + "/" + plugin + ".toml", {});
  EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
  if (found) options.plugin = *found;
  options.precision = reference::Precision::f32;
  return options;
}

RunResult run_with(const std::string& plugin, const std::string& fault,
                   const std::string& filter = "*", bool quick = true,
                   const std::vector<std::string>& required = {}) {
  Options options = options_for(plugin);
  options.filter = filter;
  options.required = required;
  options.quick = quick;
  if (!fault.empty()) options.settings = {{"fault", fault}};
  std::vector<Case> cases = cases_for(options);
  for (Case& one : cases)
    one.limit =
        std::chrono::seconds(fault == "hang" && kHanging.contains(one.full_name()) ? 1 : 60);
  RunResult result;
  const auto ran = run(options, cases, [&](const Judged& judged) {
    result.verdicts[judged.name] = judged.outcome.verdict;
    if (judged.outcome.verdict == Verdict::fail)
      result.failures[judged.name] = judged.outcome.sentence;
  });
  EXPECT_TRUE(ran.ok());
  EXPECT_EQ(result.verdicts.size(), cases.size());
  return result;
}

// The sentence of a case, which must have failed.
std::string sentence(const RunResult& result, const std::string& name) {
  const auto found = result.failures.find(name);
  if (found != result.failures.end()) return found->second;
  ADD_FAILURE() << name << " did not fail; others that did: "
                << (result.failures.empty() ? "none" : result.failures.begin()->first);
  return {};
}

bool tells_of_death(const std::string& text) {  // a sanitizer ends the process in its own way
  return text.find("crashed with SIGSEGV") != std::string::npos ||
         text.find("exit status") != std::string::npos;
}

TEST(Suite, FindsNothingInABackendThatIsTheReference) {
  const RunResult result = run_with("reference_backend", "none", "*", false);
  for (const auto& [name, why] : result.failures) ADD_FAILURE() << name << ": " << why;
  // Everything that the reference has was really judged.
  for (const char* name : {"backend/moe_linear/Q4_K/19", "backend/norm/l2/plain",
                           "backend/attend/chunk/8", "backend/linear/NVFP4/33x128x17",
                           "backend/glu/swiglu_clamped/width-67", "backend/concat/of-each-head"})
    EXPECT_EQ(result.verdicts.at(name), Verdict::pass) << name;
}

TEST(Suite, SkipsWhereABackendHasNoDeviceAndFailsWhereItIsNotCreated) {
  const std::string plain = "backend/norm/rms/plain";
  RunResult result = run_with("reference_backend", "no_device", "backend/norm/*");
  EXPECT_EQ(result.verdicts.at(plain), Verdict::skip);
  EXPECT_TRUE(result.failures.empty());
  result = run_with("reference_backend", "no_create", "backend/norm/*");
  EXPECT_NE(sentence(result, plain).find("not created"), std::string::npos);
}

TEST(Suite, FailsWhatIsRequiredAndLeftOut) {
  const RunResult result =
      run_with("old_sampler", "", "sampler/stages/*", true, {"sampler/stages/dry/*"});
  EXPECT_TRUE(sentence(result, "sampler/stages/dry/as-is")
                  .starts_with("it is required, but unsupported: "));
  EXPECT_TRUE(result.only({"sampler/stages/dry/"}));
  Options options = options_for("old_sampler");
  options.quick = true;
  options.required = {"sampler/stages/*", "sampler/no-such-stage/*"};
  EXPECT_EQ(check_required(options).error().message,
            "--require sampler/no-such-stage/*: no case is called so");
  options.required.pop_back();
  EXPECT_TRUE(check_required(options).ok());
}

TEST(Suite, TakesNoSettingThatIsNoneOfThePlugins) {
  Options options = options_for("reference_backend");
  EXPECT_EQ(introduce(options).mistake, "");
  options.settings = {{"no_such_key", "1"}};
  EXPECT_NE(introduce(options).mistake.find("no_such_key"), std::string::npos);
  auto& kinds = options.plugin.manifest.kinds;  // of several, one has to know it
  kinds.push_back(kinds.front());
  EXPECT_EQ(introduce(options).mistake,
            "--set no_such_key=1: no kind of the plugin has this setting");
}

TEST(Suite, FindsAProductThatIsOffInOneType) {
  const RunResult result = run_with("reference_backend", "linear", "backend/linear/*");
  EXPECT_NE(sentence(result, "backend/linear/Q4_K/33x512x17").find("is right"), std::string::npos);
  EXPECT_TRUE(result.only({"backend/linear/Q4_K/", "backend/linear/fused/mixed-types"}));
}

TEST(Suite, FindsPairsThatAreTurnedWrongly) {
  const RunResult result = run_with("reference_backend", "rope", "backend/[ra]*");
  sentence(result, "backend/rope/plain-halves/64");
  sentence(result, "backend/rope/llama3-adjacent/far");
  EXPECT_TRUE(result.only({"backend/rope/"}));
}

TEST(Suite, FindsAWindowThatIsOneTooWide) {
  const RunResult result = run_with("reference_backend", "window", "backend/attend/*");
  sentence(result, "backend/attend/window/7");
  EXPECT_TRUE(result.only({"backend/attend/window/"}));
}

TEST(Suite, FindsTokensThatSeeTheFuture) {
  const RunResult result = run_with("reference_backend", "causal", "backend/attend/*");
  sentence(result, "backend/attend/gqa/64-F32");
  EXPECT_EQ(result.failures.count("backend/attend/encoder/plain"), 0U);
}

TEST(Suite, FindsABlockInAnotherLayout) {
  const RunResult result = run_with("reference_backend", "kv_layout", "backend/kv/*");
  EXPECT_NE(sentence(result, "backend/kv/export/F16").find("canonical layout"), std::string::npos);
  EXPECT_TRUE(result.only({"backend/kv/export/"}));
}

TEST(Suite, FindsACacheThatForgets) {
  const RunResult result = run_with("reference_backend", "stale_kv", "backend/[ak]*");
  sentence(result, "backend/attend/tokens/decodes");
  sentence(result, "backend/kv/scattered/F32");
}

TEST(Suite, FindsOtherRowsThanTheWantedOnes) {
  const RunResult result = run_with("reference_backend", "rows", "backend/select_rows/*");
  sentence(result, "backend/select_rows/in-any-order");
  EXPECT_EQ(result.verdicts.at("backend/select_rows/last"), Verdict::pass);
}

TEST(Suite, FindsOtherNumbersForANewerHost) {
  const RunResult result = run_with("reference_backend", "newer_host", "backend/contract/steps/*");
  sentence(result, "backend/contract/steps/newer-host");
  EXPECT_TRUE(result.only({"backend/contract/steps/newer-host"}));
}

TEST(Suite, FindsThatTheBatchMatters) {
  const RunResult result = run_with("reference_backend", "batch", "backend/decoder/*");
  EXPECT_NE(sentence(result, "backend/decoder/F32/in-company").find("BATCH_INVARIANT"),
            std::string::npos);
  EXPECT_EQ(result.failures.count("backend/decoder/F32/in-pieces"), 0U);
}

TEST(Suite, FindsAReadBehindAWeight) {
  const RunResult result =
      run_with("reference_backend", "reads_behind", "backend/linear/Q[48]_0/*");
  EXPECT_TRUE(tells_of_death(sentence(result, "backend/linear/Q8_0/33x64x17")));
  EXPECT_TRUE(result.only({"backend/linear/Q8_0/"}));
}

TEST(Suite, GoesOnAfterACrashAHangAnExitAndAnException) {
  const std::string l2 = "backend/norm/l2/plain";
  RunResult result = run_with("reference_backend", "crash", "backend/norm/*");
  EXPECT_TRUE(tells_of_death(sentence(result, l2)));
  EXPECT_EQ(result.verdicts.at("backend/norm/rms/plain"), Verdict::pass);
  EXPECT_TRUE(result.only({"backend/norm/l2/"}));

  result = run_with("reference_backend", "hang", "backend/norm/*/plain");
  EXPECT_EQ(sentence(result, l2), "the plugin did not end within 1 s in this case");
  EXPECT_TRUE(result.only({l2}));

  result = run_with("reference_backend", "exit", "backend/norm/*/plain");
  EXPECT_EQ(sentence(result, l2), "the plugin ended the process with exit status 3 in this case");

  result = run_with("reference_backend", "throws", "backend/norm/*/plain");
  EXPECT_NE(sentence(result, l2).find("thrown on purpose"), std::string::npos);
}

TEST(Suite, FindsRefusalsWithoutAMessage) {
  const RunResult result = run_with("reference_backend", "silent", "backend/contract/*");
  EXPECT_NE(sentence(result, "backend/contract/refuses/unknown-operator").find("without a message"),
            std::string::npos);
}

TEST(Suite, FindsNothingInTheSamplerAsItIs) {
  const RunResult result = run_with("wrong_sampler", "none");
  for (const auto& [name, why] : result.failures) ADD_FAILURE() << name << ": " << why;
}

TEST(Suite, FindsWhatIsWrongWithASampler) {
  sentence(run_with("wrong_sampler", "seed", "sampler/seed/*"), "sampler/seed/same-tokens");
  sentence(run_with("wrong_sampler", "temperature", "sampler/distribution/temp*"),
           "sampler/distribution/temperature-0.3");
  sentence(run_with("wrong_sampler", "top_p", "sampler/distribution/*"),
           "sampler/distribution/top_p-0.9");
  sentence(run_with("wrong_sampler", "mask", "sampler/distribution/*"),
           "sampler/distribution/mask");
  sentence(run_with("wrong_sampler", "history", "sampler/s*"), "sampler/states/independent");
  sentence(run_with("wrong_sampler", "batch", "sampler/seed/*"), "sampler/seed/in-any-batch");
  EXPECT_TRUE(tells_of_death(sentence(run_with("wrong_sampler", "crash", "sampler/greedy/*"),
                                      "sampler/greedy/vocabulary-33")));
  EXPECT_NE(
      sentence(run_with("wrong_sampler", "names", "sampler/refuses/*"), "sampler/refuses/top_p=nan")
          .find("does not name the parameter"),
      std::string::npos);
}

TEST(Suite, FindsAStageOfASamplerThatIsWrong) {
  const auto found = [](const char* fault, const char* filter, const std::string& name) {
    const RunResult result = run_with("wrong_sampler", fault, std::string("sampler/") + filter);
    sentence(result, "sampler/stages/" + name);
    return result;
  };
  EXPECT_TRUE(found("typical", "stages/*", "typical_p/0.7")
                  .only({"sampler/stages/typical_p/", "sampler/stages/order/"}));
  found("sigma", "stages/top_n_sigma/*", "top_n_sigma/1");
  const RunResult xtc = found("xtc", "stages/xtc/*", "xtc/probability-0.4");
  EXPECT_EQ(xtc.verdicts.at("sampler/stages/xtc/probability-1"), Verdict::pass);
  found("dynatemp", "stages/dynatemp/*", "dynatemp/wide");
  EXPECT_TRUE(found("order", "stages/*", "order/temperature-last")
                  .only({"sampler/stages/order/", "sampler/stages/own-their-inputs"}));
  const RunResult dry = found("dry", "stages/*", "dry/long-sequence");
  const std::string as_is = "sampler/stages/dry/as-is";  // takes the draws of the long run
  sentence(run_with("wrong_sampler", "dry", as_is, false), as_is);
  EXPECT_TRUE(dry.only(
      {"sampler/stages/dry/", "sampler/stages/order/", "sampler/stages/own-their-inputs"}));
  EXPECT_NE(sentence(found("mirostat", "stages/mirostat/*", "mirostat/limit-follows-surprise"),
                     "sampler/stages/mirostat/several-accepted")
                .find("mirostat's limit should be"),
            std::string::npos);
  found("older", "stages/*", "older-host");
  sentence(run_with("wrong_sampler", "names", "sampler/refuses/*"), "sampler/refuses/dry_base=-1");
}

TEST(Suite, DoesNotAskASamplerOfAnOlderAbiForLaterStages) {
  const RunResult result = run_with("old_sampler", "", "sampler/*");
  for (const auto& [name, why] : result.failures) ADD_FAILURE() << name << ": " << why;
  for (const auto& [name, verdict] : result.verdicts)
    EXPECT_EQ(verdict, name.starts_with("sampler/stages/") ? Verdict::unsupported : verdict)
        << name;
  EXPECT_EQ(result.verdicts.at("sampler/refuses/mirostat=3"), Verdict::unsupported);
  EXPECT_EQ(result.verdicts.at("sampler/distribution/top_p-0.9"), Verdict::pass);
}

TEST(Suite, FindsNothingInTheSchedulerAsItIs) {
  const RunResult result = run_with("wrong_scheduler", "none");
  for (const auto& [name, why] : result.failures) ADD_FAILURE() << name << ": " << why;
}

TEST(Suite, FindsWhatIsWrongWithAScheduler) {
  RunResult result = run_with("wrong_scheduler", "starves");
  EXPECT_NE(sentence(result, "scheduler/history/nobody-starves").find("after"), std::string::npos);
  result = run_with("wrong_scheduler", "overcommits");
  EXPECT_NE(sentence(result, "scheduler/plan/invariants").find("more blocks than are free"),
            std::string::npos);
  sentence(run_with("wrong_scheduler", "remembers"), "scheduler/plan/same-view-same-plan");
  sentence(run_with("wrong_scheduler", "oldest"), "scheduler/plan/preempts-the-youngest");
  EXPECT_TRUE(tells_of_death(
      sentence(run_with("wrong_scheduler", "reads_behind"), "scheduler/plan/newer-host")));
}

TEST(Suite, FindsNothingInTheLoaderAsItIs) {
  const RunResult result = run_with("wrong_loader", "none");
  for (const auto& [name, why] : result.failures) ADD_FAILURE() << name << ": " << why;
}

// Good files given by hand may be anything.
TEST(Suite, DoesNotDamageAFileThatIsTooSmall) {
  std::string folder = (std::filesystem::temp_directory_path() / "halogen-check-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Options options = options_for("wrong_loader");
  for (const size_t size : {0, 7, 63}) {
    options.models.emplace_back(folder + "/of-" + std::to_string(size));
    std::ofstream(options.models.back()) << std::string(size, 'G');
  }
  options.filter = "loader/*/of-*";
  const std::vector<Case> cases = cases_for(options);
  EXPECT_EQ(cases.size(), 9U);  // described, probed, and no damage: of each
  std::map<std::string, Outcome> outcomes;
  const auto ran =
      run(options, cases, [&](const Judged& judged) { outcomes[judged.name] = judged.outcome; });
  EXPECT_TRUE(ran.ok());
  for (const auto& [name, outcome] : outcomes) EXPECT_EQ(outcome.verdict, Verdict::fail) << name;
  EXPECT_TRUE(outcomes["loader/cut/of-7/none"].sentence.starts_with("of-7 has only 7 bytes"));
  std::filesystem::remove_all(folder);
}

TEST(Suite, FindsWhatIsWrongWithALoader) {
  const std::string cut = "loader/cut/tiny.gguf/at-204";
  RunResult result = run_with("wrong_loader", "crash", "loader/cut/*");
  EXPECT_TRUE(tells_of_death(sentence(result, cut)));
  EXPECT_EQ(result.verdicts.at("loader/cut/tiny.gguf/at-0"), Verdict::pass);
  result = run_with("wrong_loader", "hang", cut);
  EXPECT_NE(sentence(result, cut).find("did not end within 1 s"), std::string::npos);
  EXPECT_NE(sentence(run_with("wrong_loader", "exit", cut), cut).find("exit status 7"),
            std::string::npos);
  EXPECT_NE(sentence(run_with("wrong_loader", "no_name", cut), cut).find("does not name the file"),
            std::string::npos);
  EXPECT_NE(sentence(run_with("wrong_loader", "no_message", cut), cut).find("without a message"),
            std::string::npos);
  EXPECT_NE(sentence(run_with("wrong_loader", "keeps_files", cut), cut).find("stays open"),
            std::string::npos);
  EXPECT_NE(sentence(run_with("wrong_loader", "beyond", "loader/describes/*"),
                     "loader/describes/tiny.gguf/as-written")
                .find("beyond the end"),
            std::string::npos);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_NE(sentence(run_with("wrong_loader", "memory", cut), cut).find("512 MiB"),
            std::string::npos);
#endif
}

}  // namespace
}  // namespace halogen::check
