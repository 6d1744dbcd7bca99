// The only place that knows the flag library. It is used for splitting the line and laying out the
// help; values stay text here.
#include "core/config/flags.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "core/base/nearest.h"
#include "core/base/printable.h"
#include "core/config/schema.h"
#include "core/config/wrap.h"

namespace halogen {
namespace {

constexpr std::size_t kHelpColumn = 34;
constexpr std::size_t kHelpWidth = 98;

std::string join(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

// The words of a choice, and apart from them those that this version refuses.
std::string describe_choices(const Setting& setting) {
  std::vector<std::string_view> accepted;
  std::vector<std::string_view> refused;
  std::string_view comes_with;
  for (const Choice& choice : setting.choices) {
    (choice.comes_with.empty() ? accepted : refused).push_back(choice.word);
    if (!choice.comes_with.empty()) comes_with = choice.comes_with;
  }
  if (accepted.empty()) return "";
  std::string text = " One of: " + join(accepted) + ".";
  if (!refused.empty())
    text +=
        " Not available yet: " + join(refused) + "; comes with " + std::string(comes_with) + ".";
  return text;
}

std::string describe(const Setting& setting) {
  std::string text(setting.help);
  text += describe_choices(setting);
  if (!setting.without_effect_on_cpu.empty()) text += " No effect on the cpu backend.";
  if (setting.type() == Type::list) text += " May be repeated.";
  if (!setting.environment.empty())
    text += " Environment: " + std::string(setting.environment) + ".";
  if (!setting.comes_with.empty())
    text += " Not available yet: comes with " + std::string(setting.comes_with) + ".";
  if (setting.flags.size() > 1)
    text += " Also " + join({setting.flags.begin() + 1, setting.flags.end()}) + ".";
  text += " [" + std::string(setting.key);
  const std::string initial = format_text(setting, default_value(setting));
  if (!initial.empty()) text += "; default " + initial;
  return text + "]";
}

// Two columns, the second filled to the width; the library's own layout does not break lines.
class HelpLayout : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool) const override {
    std::string line = "  " + option->get_name(false, true);
    if (const std::string value = option->get_type_name(); !value.empty()) line += " " + value;
    const std::string indent(kHelpColumn, ' ');
    if (line.size() + 2 > kHelpColumn)
      line += "\n" + indent;
    else
      line.resize(kHelpColumn, ' ');
    return line + wrap(option->get_description(), indent, kHelpWidth) + "\n";
  }

  std::string make_group(std::string group, bool,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, false);
    return text;
  }

  // The library hands over the names of the commands with blanks around them, the parent's only
  // where the help was asked of the parent.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    CLI::detail::trim(name);
    const CLI::App* parent = app->get_parent();
    if (parent != nullptr && name == app->get_name()) name = parent->get_name() + " " + name;
    return "Usage: " + name + " --model PATH [flags]\n\n";
  }

  std::string make_footer(const CLI::App*) const override {
    return "Sizes take K, M, G or T (powers of 1024); times take ms, s, m or h. The word in "
           "brackets is\nthe setting's key in the TOML file.\n";
  }
};

std::vector<std::string_view> known_flags() {
  std::vector<std::string_view> flags = {"--config", "--profile", "--set", "--help"};
  for (const Setting& setting : settings())
    flags.insert(flags.end(), setting.flags.begin(), setting.flags.end());
  return flags;
}

std::string explain_unknown(const std::string& argument) {
  if (!argument.starts_with('-')) {
    return "\"" + argument + "\" belongs to no flag; the model is named with --model " + argument;
  }
  const std::string flag = argument.substr(0, argument.find('='));
  const std::vector<std::string_view> known = known_flags();
  const std::string_view likely = nearest(flag, known);
  const std::string advice =
      likely.empty() ? "--help lists the flags" : "did you mean " + std::string(likely) + "?";
  return flag + " is not a flag; " + advice;
}

void add_setting(CLI::App& app, const Setting& setting, std::string_view flag,
                 const std::string& group, FlagValues& values) {
  const auto store = [&values, &setting, flag](const CLI::results_t& texts) {
    for (const std::string& text : texts)
      values.values.push_back({std::string(setting.key), std::string(flag), text});
    return true;
  };
  CLI::Option* option = app.add_option(std::string(flag), store, describe(setting));
  option->type_name(std::string(setting.value_name))->group(group);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (setting.type() == Type::boolean)
    option->expected(0, 1)->default_str("on");  // `--metrics` alone says on
  else if (!setting.alone.empty())
    option->expected(0, 1)->default_str(std::string(setting.alone));
  else
    option->expected(1);
}

std::vector<std::string> reversed(const std::vector<std::string>& arguments) {
  return {arguments.rbegin(), arguments.rend()};  // the order in which the library wants them
}

}  // namespace

void add_profile_flags(CLI::App& app, FlagValues& values) {
  constexpr const char* general = "General";
  app.set_help_flag("-h,--help", "Show this help and exit.")->group(general);
  app.add_option("--config", values.config,
                 "TOML file to read; without it $HALOGEN_CONFIG, then /etc/halogen/halogen.toml.")
      ->type_name("FILE")
      ->group(general);
  app.add_option("--profile", values.profile,
                 "Also read profiles/NAME.toml beside that file; it overrides the file.")
      ->type_name("NAME")
      ->group(general);
  app.add_option("--set", values.assignments,
                 "Set any key, also of a plugin: --set backend.cpu.threads=8. May be repeated.")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(general);
  for (const Section& section : sections()) {
    for (const Setting& setting : settings()) {
      if (setting.table() != section.table) continue;
      // Every spelling is an option of its own, so that messages can quote the one that was used;
      // those without a group stay out of the help.
      for (const std::string_view flag : setting.flags) {
        const bool shown = flag == setting.flags.front();
        add_setting(app, setting, flag, shown ? std::string(section.title) : "", values);
      }
    }
  }
  app.formatter(std::make_shared<HelpLayout>());
  app.allow_extras();
  app.parse_complete_callback([&app] {
    const std::vector<std::string> unknown = app.remaining();
    if (!unknown.empty()) throw CLI::ValidationError(explain_unknown(unknown.front()));
  });
}

Result<FlagValues> parse_flags(const std::vector<std::string>& arguments) {
  FlagValues values;
  try {
    CLI::App app;
    add_profile_flags(app, values);
    app.parse(reversed(arguments));
    return values;
  } catch (const CLI::CallForHelp&) {
    values.help = true;
    return values;
  } catch (const CLI::ParseError& error) {
    return fail(HALOGEN_E_INVALID, printable(error.what()));
  } catch (const std::exception& error) {
    return fail(HALOGEN_E_INTERNAL, std::string("reading the command line: ") + error.what());
  }
}

std::string profile_help(std::string_view program) {
  FlagValues values;
  CLI::App app("Serves language models over an OpenAI-compatible HTTP API.");
  add_profile_flags(app, values);
  return app.help(std::string(program));
}

}  // namespace halogen
