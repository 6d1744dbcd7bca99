#include "core/config/sampling_settings.h"

#include <utility>

#include "core/config/sampling_limits.h"

namespace halogen {
namespace {

namespace limits = sampling_limits;

Setting number_setting(std::string_view key, std::vector<std::string_view> flags,
                       std::string_view help, Member bound, const NumberRange& range) {
  return {.key = key,
          .flags = std::move(flags),
          .value_name = bound.type == Type::integer ? "N" : "X",
          .help = help,
          .change = Change::live,
          .member = bound,
          .least = range.least,
          .most = range.most,
          .above_least = range.above_least};
}

// Stages that drop tokens or change how likely all are.
void add_selection(std::vector<Setting>& list) {
  list.push_back(number_setting("sampling.temperature", {"--temperature", "--temp"},
                                "Randomness; 0 takes the likeliest token.",
                                member([](auto& p) -> auto& { return p.sampling.temperature; }),
                                limits::temperature));
  list.push_back(number_setting(
      "sampling.dynatemp_range", {"--dynatemp-range"},
      "How far the temperature moves to both sides with the entropy; 0: not.",
      member([](auto& p) -> auto& { return p.sampling.dynatemp_range; }), limits::dynatemp_range));
  list.push_back(
      number_setting("sampling.dynatemp_exponent", {"--dynatemp-exponent", "--dynatemp-exp"},
                     "Power of the entropy's share of its maximum that moves the temperature.",
                     member([](auto& p) -> auto& { return p.sampling.dynatemp_exponent; }),
                     limits::dynatemp_exponent));
  list.push_back(
      number_setting("sampling.top_k", {"--top-k"}, "Only the N likeliest tokens; 0 or -1: all.",
                     member([](auto& p) -> auto& { return p.sampling.top_k; }), limits::top_k));
  list.push_back(number_setting(
      "sampling.top_p", {"--top-p"}, "Only the likeliest tokens that add up to this probability.",
      member([](auto& p) -> auto& { return p.sampling.top_p; }), limits::probability));
  list.push_back(number_setting(
      "sampling.min_p", {"--min-p"},
      "Only tokens at least this likely, relative to the likeliest; 0: all.",
      member([](auto& p) -> auto& { return p.sampling.min_p; }), limits::probability));
  list.push_back(number_setting(
      "sampling.typical_p", {"--typical-p", "--typical"},
      "Only the tokens of the most typical surprise that add up to this probability.",
      member([](auto& p) -> auto& { return p.sampling.typical_p; }), limits::probability));
  list.push_back(number_setting(
      "sampling.top_n_sigma", {"--top-n-sigma", "--top-nsigma"},
      "Only tokens whose score is within so many standard deviations of the best; 0 or less: all.",
      member([](auto& p) -> auto& { return p.sampling.top_n_sigma; }), limits::top_n_sigma));
  list.push_back(number_setting("sampling.xtc_probability", {"--xtc-probability"},
                                "How often the top choices are excluded; 0: never.",
                                member([](auto& p) -> auto& { return p.sampling.xtc_probability; }),
                                limits::probability));
  list.push_back(number_setting(
      "sampling.xtc_threshold", {"--xtc-threshold"},
      "Probability from which a token is a top choice; above 0.5 there is nothing to exclude.",
      member([](auto& p) -> auto& { return p.sampling.xtc_threshold; }), limits::probability));
}

// Stages that tax tokens for having been used.
void add_repetition(std::vector<Setting>& list) {
  list.push_back(number_setting("sampling.repeat_penalty",
                                {"--repeat-penalty", "--repetition-penalty"},
                                "Divides the score of tokens that were used before; 1: not.",
                                member([](auto& p) -> auto& { return p.sampling.repeat_penalty; }),
                                limits::repetition_penalty));
  list.push_back(
      number_setting("sampling.presence_penalty", {"--presence-penalty"},
                     "Taken off the score of tokens that the reply has used.",
                     member([](auto& p) -> auto& { return p.sampling.presence_penalty; }),
                     limits::presence_penalty));
  list.push_back(
      number_setting("sampling.frequency_penalty", {"--frequency-penalty"},
                     "Taken off the score of a token for each time that the reply has used it.",
                     member([](auto& p) -> auto& { return p.sampling.frequency_penalty; }),
                     limits::frequency_penalty));
  list.push_back(number_setting("sampling.repeat_last_n", {"--repeat-last-n"},
                                "How many of the last tokens the three penalties see; -1: all.",
                                member([](auto& p) -> auto& { return p.sampling.repeat_last_n; }),
                                limits::last_n));
  list.push_back(number_setting(
      "sampling.dry_multiplier", {"--dry-multiplier"},
      "Strength of DRY, which taxes tokens that go on with a repetition; 0: not.",
      member([](auto& p) -> auto& { return p.sampling.dry_multiplier; }), limits::dry_multiplier));
  list.push_back(number_setting("sampling.dry_base", {"--dry-base"},
                                "How much stronger DRY gets with each token of a repetition.",
                                member([](auto& p) -> auto& { return p.sampling.dry_base; }),
                                limits::dry_base));
  list.push_back(
      number_setting("sampling.dry_allowed_length", {"--dry-allowed-length"},
                     "Tokens that may be repeated before DRY counts.",
                     member([](auto& p) -> auto& { return p.sampling.dry_allowed_length; }),
                     limits::dry_allowed_length));
  list.push_back(number_setting(
      "sampling.dry_penalty_last_n", {"--dry-penalty-last-n"},
      "How many of the last tokens DRY searches; -1: all.",
      member([](auto& p) -> auto& { return p.sampling.dry_penalty_last_n; }), limits::last_n));
  list.push_back(
      {.key = "sampling.dry_sequence_breakers",
       .flags = {"--dry-sequence-breaker"},
       .value_name = "TEXT",
       .help = "Texts that no repetition reaches across.",
       .change = Change::live,
       .member = member([](auto& p) -> auto& { return p.sampling.dry_sequence_breakers; })});
}

void add_mirostat(std::vector<Setting>& list) {
  list.push_back(number_setting(
      "sampling.mirostat", {"--mirostat"},
      "2: mirostat 2 keeps the surprise of tokens near mirostat_tau, in place of all stages that "
      "drop tokens; 0: not.",
      member([](auto& p) -> auto& { return p.sampling.mirostat; }), limits::mirostat));
  list.push_back(number_setting("sampling.mirostat_tau", {"--mirostat-tau", "--mirostat-ent"},
                                "Surprise that mirostat aims at, in bits.",
                                member([](auto& p) -> auto& { return p.sampling.mirostat_tau; }),
                                limits::mirostat_tau));
  list.push_back(number_setting("sampling.mirostat_eta", {"--mirostat-eta", "--mirostat-lr"},
                                "How fast mirostat corrects itself.",
                                member([](auto& p) -> auto& { return p.sampling.mirostat_eta; }),
                                limits::mirostat_eta));
}

}  // namespace

void add_sampling(std::vector<Setting>& list) {
  add_selection(list);
  add_repetition(list);
  add_mirostat(list);
  list.push_back({.key = "sampling.samplers",
                  .flags = {"--samplers"},
                  .value_name = "STAGE",
                  .help = "The stages of sampling that run, in their order.",
                  .change = Change::live,
                  .member = member([](auto& p) -> auto& { return p.sampling.samplers; })});
}

}  // namespace halogen
