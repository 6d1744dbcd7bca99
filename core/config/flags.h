// The command line's share of a profile: one flag for every setting, and --config, --profile,
// --set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace CLI {
class App;
}

namespace halogen {

struct FlagValue {
  std::string key;   // "server.port"
  std::string flag;  // as it was spelled: "--port"
  std::string text;
};

// What the command line said, not yet checked against the schema; load_profile() does that, so that
// flags and files give the same messages.
struct FlagValues {
  std::string config;                    // --config FILE
  std::string profile;                   // --profile NAME
  std::vector<std::string> assignments;  // --set KEY=VALUE
  std::vector<FlagValue> values;
  bool help = false;  // --help, where parse_flags() did the parsing
};

// [any] Gives `app` (a subcommand or the whole program) a flag for every setting, grouped and
// described for --help. `values` is filled while `app` parses and must outlive that. Flags that
// nobody knows end the parse with a CLI::ParseError that names the nearest one.
void add_profile_flags(CLI::App& app, FlagValues& values);

// [any] Parses `arguments` (without the program's name) by themselves.
Result<FlagValues> parse_flags(const std::vector<std::string>& arguments);

// [any] The text of --help for a program that takes only these flags.
std::string profile_help(std::string_view program);

}  // namespace halogen
