// Pages in the man macros of roff: a line that begins with a dot is a request, "\-" a minus sign.
#include "core/config/manual.h"

#include <string_view>

#include "core/config/profile_diff.h"
#include "core/config/schema.h"

namespace halogen {
namespace {

constexpr std::string_view kProgramHead = R"(.TH HALOGEN 1 "" "halogen" "User Commands"
.SH NAME
halogen, halogen\-flash\-server \- serve language models to many people at once
.SH SYNOPSIS
.B halogen serve
.RI [ flags ]
.br
.B halogen\-flash\-server
.RI [ flags ]
.br
.B halogen run
.RB [ \-\-max\-tokens
.IR N ]
.RB [ \-\-temperature
.IR T ]
.RB [ \-\-seed
.IR N ]
.RB [ \-\-raw ]
.I model
.RI [ prompt ]
.br
.B halogen plan
.RB [ \-\-memory
.IR SIZE ]
.RB [ \-\-bandwidth
.IR GB/s ]
.I model
.br
.B halogen bench
.I model
|
.B \-\-url
.I URL
.br
.B halogen perplexity
.I model
.I text
.br
.B halogen plugins
.RI [ flags ]
.br
.B halogen plugins inspect
.I file
.br
.B halogen check
.I plugin
.br
.B halogen config
.RI [ flags ]
.br
.B halogen \-\-version
.SH DESCRIPTION
.B halogen
serves a language model over HTTP, with an API that OpenAI's clients speak. What it is made of, model loaders,
compute backends, samplers and schedulers, are plugins that a profile in TOML names; see
.BR halogen.toml (5).
.SH COMMANDS
.TP
.B serve
Serves the model that the profile names, until a signal ends it. The API answers at once, and says that it is loading
until requests can be served. Called as
.B halogen\-flash\-server
the program is this command.
.TP
.B run
Answers one prompt in the terminal. The prompt is read from standard input where it is left out.
.B \-\-raw
gives the model the prompt as it is, without its chat template;
.B \-\-temperature 0
takes the likeliest token every time; the same
.B \-\-seed
gives the same answer. Of the flags below it takes
.B \-\-config
and
.BR \-\-set .
.TP
.B plan
Says whether a model fits this machine and how fast it can be here, before a byte of its weights is read: its weights by
type, what a token takes in the KV cache, the contexts and streams that fit, and the tokens per second that the memory's
bandwidth allows. With
.B \-\-memory
and
.B \-\-bandwidth
it plans for another machine. It fails where the model does not fit.
.TP
.B bench
Measures prefill and decode of a model on this machine, each beside what the machine could do at most; or, with
.BR \-\-url ,
a running server under load: the time to the first token, the time between tokens, and the tokens per second of all
streams together.
.TP
.B perplexity
Measures how well a model predicts a text, which is what a weight type or a cache type costs in quality. Lower is
better.
.TP
.B plugins
Lists the plugins that there are, where they come from, and why one cannot be used.
.B plugins inspect
.I FILE
reads the file of one without loading it.
.TP
.B check
Holds a plugin to its contract, and reports what it does not keep.
.TP
.B config
Shows the effective profile, and where each value comes from. Nothing is loaded.
.PP
Every command shows its flags with
.BR \-\-help .
.SH FLAGS
Every setting of the profile has a flag, and a flag counts more than the file and the environment.
.TP
.BI \-\-config " FILE"
The profile, instead of the one that HALOGEN_CONFIG names or /etc/halogen/halogen.toml.
.TP
.BI \-\-profile " NAME"
Settings from profiles/NAME.toml beside that file, which count more than it does.
.TP
.BI \-\-set " KEY=VALUE"
Any key, also one of a plugin:
.BR "\-\-set backend.cpu.threads=8" .
)";

constexpr std::string_view kProgramTail = R"(.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
The server stops listening and lets running requests finish, at most for server.drain_timeout. A second one ends them
at once.
.SH EXIT STATUS
.TP
.B 0
The command did what it was asked for.
.TP
.B 1
Something is wrong, with the profile or with what was done; a message says what, where, and what to do.
.TP
.B 64
The command line is not valid, or asks for a command of a later version.
.SH FILES
.TP
.I /etc/halogen/halogen.toml
The profile that is read where no other is named.
.TP
.I /etc/halogen/profiles/
What
.B \-\-profile
finds.
.TP
.I /etc/halogen/plugins/
Manifests of plugins that an administrator adds; those of packages lie in share/halogen/plugins.
.SH EXAMPLES
.EX
halogen serve \-\-model /models/model.gguf \-\-host 0.0.0.0
halogen serve \-\-config /etc/halogen/halogen.toml \-\-profile many\-users
halogen run /models/model.gguf "What is 12 + 30?"
halogen config \-\-set engine.context=4096
halogen plan /models/model.gguf \-\-memory 128G \-\-bandwidth 256
halogen bench /models/model.gguf \-\-prefill 512 \-\-depth 0,4096 \-\-batch 1,8
halogen bench \-\-url http://127.0.0.1:8080 \-\-streams 16 \-\-requests 64
halogen perplexity /models/model.gguf text.txt \-\-cache\-type f16
.EE
.SH SEE ALSO
.BR halogen.toml (5)
)";

constexpr std::string_view kProfileHead = R"(.TH HALOGEN.TOML 5 "" "halogen" "File Formats"
.SH NAME
halogen.toml \- settings of halogen
.SH DESCRIPTION
A TOML file with everything that can be set. A value is taken from the last of these that names it: the default; the
file, which is
.B \-\-config
.IR FILE ,
else the one that HALOGEN_CONFIG names, else /etc/halogen/halogen.toml;
.I profiles/NAME.toml
beside it, with
.B \-\-profile
.IR NAME ;
the environment variables named below; flags. A list replaces the earlier list as a whole. Relative paths start from
the working directory.
.PP
An unknown key, a value of the wrong type or out of range, and values that contradict each other are errors that name
the file and line, or the flag. All of them are reported together, and nothing starts.
.PP
Sizes are bytes, or a number with K, M, G or T (powers of 1024): "96G"; where it says so, also a percentage: "80%".
Times are seconds, or a number with ms, s, m or h: "500ms".
)";

constexpr std::string_view kProfileTail = R"(.SH SETTINGS OF PLUGINS
A table named after a plugin holds that plugin's own settings:
.BR [backend.cpu] ,
.BR [loader.gguf] ,
.BR [sampler.NAME] ,
.BR [scheduler.NAME] .
The plugin declares its keys; they are checked when it is loaded. A name with dots is quoted:
.BR [backend."com.example.fast"] .
.SH SEE ALSO
.BR halogen (1)
)";

// Text as roff takes it for what it is: no escapes, no hyphens in place of minus signs, and no line
// that could be a request.
std::string plain(std::string_view text) {
  std::string escaped;
  if (text.starts_with('.') || text.starts_with('\'')) escaped += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string flags_of(const Setting& setting) {
  std::string flags;
  for (const std::string_view flag : setting.flags) {
    flags += (flags.empty() ? "" : ", ") + plain(flag);
  }
  return flags;
}

// What a setting does, and what keeps it from doing so.
std::string help_of(const Setting& setting) {
  std::string help = plain(setting.help) + "\n";
  if (!setting.without_effect_on_cpu.empty()) {
    help += "No effect on the cpu backend: " + plain(setting.without_effect_on_cpu) + ".\n";
  }
  if (!setting.comes_with.empty()) {
    help += "Not in this version: comes with " + plain(setting.comes_with) + ".\n";
  }
  for (const Choice& choice : setting.choices) {
    if (choice.comes_with.empty()) continue;
    help += plain(choice.word) + ": not in this version, comes with " + plain(choice.comes_with) +
            ".\n";
  }
  return help;
}

std::string profile_entry(const Setting& setting) {
  std::string entry = ".TP\n.B " + plain(setting.name()) + "\n" + help_of(setting);
  entry += ".br\nValues: " + plain(expectation(setting)) + "; default " +
           plain(format_toml(setting, default_value(setting))) + ".\n";
  entry += "Flag: " + flags_of(setting) + ".\n";
  if (!setting.environment.empty()) entry += "Environment: " + plain(setting.environment) + ".\n";
  return entry + "Changes: " + std::string(change_name(setting.change)) + ".\n";
}

std::string environment_section() {
  std::string text =
      ".SH ENVIRONMENT\n.TP\n.B HALOGEN_CONFIG\nThe profile, where \\-\\-config names none.\n";
  for (const Setting& setting : settings()) {
    if (setting.environment.empty()) continue;
    text += ".TP\n.B " + plain(setting.environment) + "\n" + plain(setting.help) + " (" +
            plain(setting.key) + ")\n";
  }
  return text;
}

}  // namespace

std::string program_manual() {
  std::string text(kProgramHead);
  for (const Setting& setting : settings()) {
    text += ".TP\n.B " + flags_of(setting) + "\n" + help_of(setting) + "(" +
            plain(expectation(setting)) + "; " + plain(setting.key) + ")\n";
  }
  return text + environment_section() + std::string(kProgramTail);
}

std::string profile_manual() {
  std::string text(kProfileHead);
  for (const Section& section : sections()) {
    text += ".SH [" + plain(section.table) + "]\n" + plain(section.title) + ".\n" +
            plain(section.help) + "\n";
    for (const Setting& setting : settings()) {
      if (setting.table() == section.table) text += profile_entry(setting);
    }
  }
  return text + std::string(kProfileTail);
}

}  // namespace halogen
