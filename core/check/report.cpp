#include "core/check/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

namespace halogen::check {
namespace {

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "FAIL";
    case Verdict::skip:
      return "skipped";
    default:
      return "unsupported";
  }
}

std::string group_of(const std::string& name) {
  return name.substr(0, name.rfind('/'));
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string formatted(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string system_line() {
  utsname names{};
  ::uname(&names);
  return std::string(names.sysname) + " " + names.release + " " + names.machine + ", " +
         std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " x " + processor();
}

const char* precision_name(reference::Precision precision) {
  switch (precision) {
    case reference::Precision::f32:
      return "f32";
    case reference::Precision::f16:
      return "f16";
    default:
      return "q8";
  }
}

// As a shell reads it back.
std::string quoted(const std::string& text) {
  if (text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+") ==
          std::string::npos &&
      !text.empty())
    return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

struct Group {
  std::string name;
  std::array<size_t, 4> counts{};
  const Judged* worst = nullptr;  // the largest share
  std::string sentence;           // of the first that did not pass
};

std::vector<Group> grouped(const std::vector<Judged>& all) {
  std::vector<Group> groups;
  std::map<std::string, size_t> places;
  for (const Judged& judged : all) {
    const std::string name = group_of(judged.name);
    const auto [place, added] = places.emplace(name, groups.size());
    if (added) groups.push_back({name, {}, nullptr, {}});
    Group& group = groups[place->second];
    group.counts[static_cast<size_t>(judged.outcome.verdict)]++;
    if (!judged.outcome.measure.empty() &&
        (!group.worst || judged.outcome.share > group.worst->outcome.share))
      group.worst = &judged;
    if (group.sentence.empty() && judged.outcome.verdict != Verdict::pass)
      group.sentence = judged.outcome.sentence;
  }
  return groups;
}

std::string measure_text(const Outcome& outcome) {
  if (outcome.measure.empty()) return {};
  if (outcome.share == 0) return outcome.measure;
  return outcome.measure + ", " + formatted("%.2g", outcome.share) + " of the bound";
}

std::string group_line(const Group& group) {
  std::string counts;
  for (const Verdict verdict :
       {Verdict::pass, Verdict::fail, Verdict::skip, Verdict::unsupported}) {
    const size_t count = group.counts[static_cast<size_t>(verdict)];
    if (count > 0)
      counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + word(verdict);
  }
  std::string line = "  " + padded(group.name, 36) + " " + padded(counts, 10);
  if (group.worst)
    line +=
        (group.worst->outcome.share > 0 ? "  worst: " : "  ") + measure_text(group.worst->outcome);
  const bool failed = group.counts[static_cast<size_t>(Verdict::fail)] > 0;
  if (!failed && !group.sentence.empty()) line += "  " + group.sentence;
  return line + "\n";
}

std::string case_line(const Judged& judged) {
  return "  " + padded(judged.name, 48) + " " + padded(word(judged.outcome.verdict), 11) + "  " +
         measure_text(judged.outcome) + (judged.outcome.measure.empty() ? "" : "  ") +
         judged.outcome.sentence + "\n";
}

}  // namespace

Report::Report(ReportHead head, const Options& options)
    : head_(std::move(head)), options_(options) {}

void Report::add(const Judged& judged) {
  judged_.push_back(judged);
}

size_t Report::count(Verdict verdict) const {
  return static_cast<size_t>(
      std::count_if(judged_.begin(), judged_.end(),
                    [verdict](const Judged& judged) { return judged.outcome.verdict == verdict; }));
}

std::vector<std::string> Report::unjudged_kinds() const {
  std::map<std::string, bool> judged_kinds;
  for (const Judged& judged : judged_) {
    const Verdict verdict = judged.outcome.verdict;
    judged_kinds[judged.name.substr(0, judged.name.find('/'))] |=
        verdict == Verdict::pass || verdict == Verdict::fail;
  }
  std::vector<std::string> unjudged;
  for (const auto& [kind, judged] : judged_kinds)
    if (!judged) unjudged.push_back(kind);
  return unjudged;
}

std::string Report::head() const {
  const Manifest& manifest = options_.plugin.manifest;
  std::string text = "halogen " + head_.version + ", plugin ABI " +
                     std::to_string(HALOGEN_ABI_MAJOR) + "." + std::to_string(HALOGEN_ABI_MINOR) +
                     ": check of " + manifest.id + " " + manifest.version + "\n";
  text += "object    " + options_.plugin.library.string() + "\n";
  for (const std::string& line : head_.introduced) text += line + "\n";
  text += "system    " + system_line() + "\n";
  std::string how = "seed " + std::to_string(options_.seed) + ", precision " +
                    precision_name(options_.precision) + (options_.quick ? ", quick" : "");
  for (const auto& [key, value] : options_.settings) how += ", " + key + " = " + value;
  return text + "run       " + how + "\n";
}

std::string Report::repeat_command(const std::string& case_name) const {
  std::string command = "halogen check " + quoted(head_.plugin) + " --filter " + quoted(case_name);
  for (const std::string& folder : head_.folders) command += " --plugin-path " + quoted(folder);
  for (const std::string& glob : options_.required) command += " --require " + quoted(glob);
  for (const auto& [key, value] : options_.settings)
    command += " --set " + quoted(key + "=" + value);
  for (const auto& model : options_.models) command += " --model " + quoted(model.string());
  if (options_.precision != reference::Precision::q8)
    command += std::string(" --precision ") + precision_name(options_.precision);
  if (options_.quick) command += " --quick";
  return command + " --seed " + std::to_string(options_.seed);
}

std::string Report::body(bool every_case, std::chrono::duration<double> took) const {
  std::string text;
  if (every_case) {
    for (const Judged& judged : judged_) text += case_line(judged);
  } else {
    for (const Group& group : grouped(judged_)) text += group_line(group);
  }
  for (const Judged& judged : judged_) {
    if (judged.outcome.verdict != Verdict::fail) continue;
    text += "\nFAIL " + judged.name + "\n  " + judged.outcome.sentence +
            "\n  again: " + repeat_command(judged.name) + "\n";
  }
  text += "\n" + std::to_string(judged_.size()) + " cases in " + formatted("%.1f", took.count()) +
          " s: " + std::to_string(count(Verdict::pass)) + " pass, " +
          std::to_string(count(Verdict::fail)) + " fail, " + std::to_string(count(Verdict::skip)) +
          " skipped, " + std::to_string(count(Verdict::unsupported)) + " unsupported\n";
  return text;
}

std::string Report::json(std::chrono::duration<double> took) const {
  using Json = nlohmann::ordered_json;
  const Manifest& manifest = options_.plugin.manifest;
  Json cases = Json::array();
  for (const Judged& judged : judged_) {
    Json one = {{"name", judged.name}, {"verdict", word(judged.outcome.verdict)}};
    if (judged.outcome.verdict == Verdict::fail) one["verdict"] = "fail";
    if (!judged.outcome.measure.empty()) {
      one["measure"] = judged.outcome.measure;
      one["share"] = judged.outcome.share;
    }
    if (!judged.outcome.sentence.empty()) one["sentence"] = judged.outcome.sentence;
    if (judged.outcome.verdict == Verdict::fail) one["again"] = repeat_command(judged.name);
    cases.push_back(std::move(one));
  }
  Json settings = Json::object();
  for (const auto& [key, value] : options_.settings) settings[key] = value;
  const Json report = {
      {"halogen", head_.version},
      {"abi", std::to_string(HALOGEN_ABI_MAJOR) + "." + std::to_string(HALOGEN_ABI_MINOR)},
      {"plugin", {{"id", manifest.id}, {"version", manifest.version}}},
      {"object", options_.plugin.library.string()},
      {"introduction", head_.introduced},
      {"system", system_line()},
      {"seed", options_.seed},
      {"precision", precision_name(options_.precision)},
      {"quick", options_.quick},
      {"settings", settings},
      {"seconds", took.count()},
      {"pass", count(Verdict::pass)},
      {"fail", count(Verdict::fail)},
      {"skipped", count(Verdict::skip)},
      {"unsupported", count(Verdict::unsupported)},
      {"cases", cases}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace halogen::check
