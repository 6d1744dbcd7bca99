#include "core/config/reference.h"

#include <string_view>

#include "core/config/profile_diff.h"
#include "core/config/schema.h"
#include "core/config/wrap.h"

namespace halogen {
namespace {

constexpr std::size_t kWidth = 98;

constexpr std::string_view kIntroduction =
    R"(# Configuration

<!-- Written from core/config/schema.cpp; tests/unit/config says how to write it again. -->

Everything an operator sets has one key in a TOML file and one flag on the command line. A value is
taken from the last of these that names it:

1. the default;
2. the TOML file: `--config FILE`, else the file that `HALOGEN_CONFIG` names, else
   `/etc/halogen/halogen.toml` if it exists; a file in the working directory is not looked for;
3. `profiles/NAME.toml` beside that file, with `--profile NAME`;
4. the environment variables named below;
5. flags, and `--set KEY=VALUE` for any key.

A list replaces the earlier list as a whole. Relative paths start from the working directory.

An unknown key, a value of the wrong type or out of range, and values that contradict each other are
errors that name the file and line, or the flag. All of them are reported together, and nothing starts.
A setting whose feature is not in this version accepts its default and refuses everything else.

**Sizes** are bytes, or a number with K, M, G or T (powers of 1024): `"96G"`, `"1.5G"`. Where it says
so, also a percentage: `"80%"`. **Times** are seconds, or a number with ms, s, m or h: `"500ms"`.
Numbers without a unit need no quotes.

**Changes**: *live*: the next step or request uses the new value. *transition*: a plugin, the pool or the
model is replaced while requests go on. *restart*: the process must be started again.
)";

constexpr std::string_view kPluginTables =
    R"(
## Settings of plugins

A table named after a plugin holds that plugin's own settings: `[backend.cpu]`, `[loader.gguf]`,
`[sampler.NAME]`, `[scheduler.NAME]`. The plugin declares its keys; they are checked when it is loaded. A
name with dots is quoted: `[backend."com.example.fast"]`. On the command line:
`--set backend.cpu.threads=8`. Values are texts, numbers, booleans and lists of texts.
)";

constexpr std::string_view kConfigHead =
    R"(# The settings of halogen, each with its default. Remove the '#' before a line to change it.
# docs/configuration.md explains them; `halogen serve --help` lists the flags that override them.
)";

std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

// A vertical bar would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string table_row(const Setting& setting) {
  std::string flags;
  for (const std::string_view flag : setting.flags)
    flags += (flags.empty() ? "" : ", ") + code(flag);
  std::string help(setting.help);
  if (!setting.without_effect_on_cpu.empty()) {
    help += " No effect on the cpu backend: " + std::string(setting.without_effect_on_cpu) + ".";
  }
  if (!setting.environment.empty()) help += " Environment: " + code(setting.environment) + ".";
  if (!setting.comes_with.empty())
    help += " **Not in this version**; comes with " + std::string(setting.comes_with) + ".";
  for (const Choice& choice : setting.choices) {
    if (!choice.comes_with.empty())
      help += " " + code(choice.word) + ": **not in this version**; comes with " +
              std::string(choice.comes_with) + ".";
  }
  return "| " + code(setting.name()) + " | " + flags + " | " + cell(expectation(setting)) + " | " +
         code(format_toml(setting, default_value(setting))) + " | " +
         std::string(change_name(setting.change)) + " | " + cell(help) + " |\n";
}

std::string config_lines(const Setting& setting) {
  std::string help(setting.help);
  help += " (" + expectation(setting) + ")";
  if (!setting.comes_with.empty())
    help += " Not in this version: comes with " + std::string(setting.comes_with) + ".";
  return "# " + wrap(help, "# ", kWidth) + "\n#" + std::string(setting.name()) + " = " +
         format_toml(setting, default_value(setting)) + "\n";
}

}  // namespace

std::string configuration_reference() {
  std::string text(kIntroduction);
  for (const Section& section : sections()) {
    text += "\n## " + std::string(section.title) + ": " +
            code("[" + std::string(section.table) + "]") + "\n\n" + wrap(section.help, "", kWidth) +
            "\n\n" + "| key | flag | values | default | changes | what |\n" +
            "| --- | --- | --- | --- | --- | --- |\n";
    for (const Setting& setting : settings())
      if (setting.table() == section.table) text += table_row(setting);
  }
  return text + std::string(kPluginTables);
}

std::string default_config() {
  std::string text(kConfigHead);
  for (const Section& section : sections()) {
    const std::string head = std::string(section.title) + ". " + std::string(section.help);
    text += "\n# " + wrap(head, "# ", kWidth) + "\n[" + std::string(section.table) + "]\n";
    bool first = true;
    for (const Setting& setting : settings()) {
      if (setting.table() != section.table) continue;
      if (!first) text += "\n";
      text += config_lines(setting);
      first = false;
    }
  }
  return text;
}

}  // namespace halogen
