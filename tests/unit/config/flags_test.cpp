// The command line: every spelling, the examples that halogen promises to accept, and the help.
#include "core/config/flags.h"

#include <set>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "core/config/schema.h"
#include "tests/unit/config/support.h"

namespace halogen {
namespace {

using test::error_of;
using test::load;

// A valid value that is not the default, where the version accepts one.
std::string sample(const Setting& setting) {
  switch (setting.type()) {
    case Type::boolean:
      return "off";
    case Type::integer:
      return setting.key == "engine.max_concurrent_requests" ? "7" : "64";
    case Type::number:
      return "0.5";
    case Type::text:
      return "word";
    case Type::size:
      return "1G";
    case Type::duration:
      return "45s";
    case Type::choice:
      return std::string(setting.choices.back().word);
    case Type::list:
      return "item";
  }
  return "";
}

TEST(Flags, EverySettingHasAFlagAndNoFlagIsUsedTwice) {
  std::set<std::string_view> seen;
  for (const Setting& setting : settings()) {
    EXPECT_FALSE(setting.flags.empty()) << setting.key;
    for (const std::string_view flag : setting.flags) {
      EXPECT_TRUE(flag.starts_with("-")) << flag;
      EXPECT_TRUE(seen.insert(flag).second) << flag;
    }
  }
}

TEST(Flags, EverySpellingReachesItsSettingAndIsNamedAsItsOrigin) {
  for (const Setting& setting : settings()) {
    if (!setting.comes_with.empty()) continue;
    std::string text = sample(setting);
    if (setting.key == "backend.isolation") text = "thread";
    if (setting.key == "sampling.dry_base") text = "1.5";
    if (setting.key == "sampling.mirostat") text = "2";
    if (setting.key == "sampling.samplers") text = "top_k";
    for (const std::string_view flag : setting.flags) {
      Result<Profile> profile = load({std::string(flag), text});
      ASSERT_TRUE(profile.ok()) << profile.error().message;
      const Result<Value> expected = value_from_text(setting, text);
      EXPECT_TRUE(setting.member.get(*profile) == expected.value()) << flag;
      EXPECT_EQ(profile->origin(setting.key), "flag " + std::string(flag));
      EXPECT_EQ(profile->origins.size(), 1u);
    }
  }
}

TEST(Flags, SettingsOfLaterVersionsAcceptTheirDefaultAndRefuseTheRest) {
  for (const Setting& setting : settings()) {
    if (setting.comes_with.empty()) continue;
    const std::string flag(setting.flags.front());
    const std::string other = setting.type() == Type::boolean ? "on" : sample(setting);
    const Error error = error_of(load({flag, other}));
    EXPECT_EQ(error.status, HALOGEN_E_UNSUPPORTED);
    EXPECT_EQ(error.message,
              flag + " " + other + " is not available in this version (it comes with " +
                  std::string(setting.comes_with) + ") [" + std::string(setting.key) + "]");
    if (setting.type() == Type::boolean) {
      EXPECT_TRUE(load({flag, "off"}).ok()) << flag;
    }
  }
}

TEST(Flags, TheFirstPromisedLineIsUnderstood) {
  const std::vector<std::string> line = {"--model",
                                         "/models/qwen2.5-32b-instruct-q4_k_m.gguf",
                                         "--pool-size",
                                         "96G",
                                         "--max-context",
                                         "81920",
                                         "--max-batch-tokens",
                                         "8192",
                                         "--flash-threshold",
                                         "4096",
                                         "--prefix-cache",
                                         "on",
                                         "--port",
                                         "8080"};
  Result<Profile> profile = load(line);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->model.path, "/models/qwen2.5-32b-instruct-q4_k_m.gguf");
  EXPECT_EQ(profile->kv.pool_size, ByteSize::bytes(std::uint64_t{96} << 30));
  EXPECT_EQ(profile->engine.context, 81920u);
  EXPECT_EQ(profile->engine.max_batch_tokens, 8192u);
  EXPECT_EQ(profile->attention.flash_threshold, 4096u);
  EXPECT_TRUE(profile->kv.prefix_cache);
  EXPECT_EQ(profile->server.port, 8080);
}

TEST(Flags, TheSecondPromisedLineIsUnderstood) {
  const std::vector<std::string> line = {"--model",
                                         "/models/qwen2.5-7b-instruct-q4_k_m.gguf",
                                         "--backend",
                                         "rocm",
                                         "--context-length",
                                         "8192",
                                         "--batch-size",
                                         "256",
                                         "--prefill-batch-size",
                                         "128",
                                         "--max-concurrent-requests",
                                         "4",
                                         "--cache-type",
                                         "quantized",
                                         "--flash-attn",
                                         "1",
                                         "--host",
                                         "0.0.0.0",
                                         "--port",
                                         "8080"};
  Result<Profile> profile = load(line);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->backend.name, "rocm");
  EXPECT_EQ(profile->engine.context, 8192u);
  EXPECT_EQ(profile->engine.tokens_per_step(), 256u);
  EXPECT_EQ(profile->engine.prefill_tokens_per_step(), 128u);
  EXPECT_EQ(profile->engine.max_concurrent_requests, 4u);
  EXPECT_EQ(profile->kv.cache_type, CacheType::q8_0);
  EXPECT_EQ(profile->attention.flash, FlashAttention::forced);
  EXPECT_EQ(profile->server.host, "0.0.0.0");
}

TEST(Flags, TheThirdPromisedLineIsAccepted) {
  Result<Profile> profile = load({"--model", "models/folder", "--backend", "auto", "--context",
                                  "8192", "--served-model-name", "qwen2.5-72b"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->model.path, "models/folder");
  EXPECT_EQ(profile->backend.name, "auto");
  EXPECT_EQ(profile->model.served_model_names, std::vector<std::string>{"qwen2.5-72b"});
}

TEST(Flags, ListsGrowByRepetition) {
  Result<Profile> profile = load({"--api-key", "a", "--port=9000", "--api-key=b,c"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->server.api_keys, (std::vector<std::string>{"a", "b,c"}));
  EXPECT_EQ(profile->server.port, 9000);
}

TEST(Flags, ABooleanAloneMeansOn) {
  Result<Profile> profile = load({"--metrics", "--port", "1"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_TRUE(profile->metrics);
  EXPECT_EQ(profile->server.port, 1);
  EXPECT_FALSE(load({"--metrics", "off"})->metrics);
}

TEST(Flags, AChoiceMayHaveAMeaningAlone) {
  Result<Profile> profile = load({"--mlock", "--huge-pages", "--port", "1"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->memory.lock, MemoryLock::required);
  EXPECT_EQ(profile->memory.huge_pages, HugePages::required);
  EXPECT_EQ(profile->server.port, 1);
  EXPECT_EQ(load({"--mlock", "off"})->memory.lock, MemoryLock::off);
  EXPECT_EQ(load({})->memory.lock, MemoryLock::automatic);
}

TEST(Flags, NegativeNumbersAreValues) {
  Result<Profile> profile = load({"--presence-penalty", "-1.5"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->sampling.presence_penalty, -1.5);
}

TEST(Flags, ContradictionsAreRefusedAndRepetitionsAreNot) {
  EXPECT_EQ(error_of(load({"--context", "100", "--max-model-len", "200"})).message,
            "--context 100 and --max-model-len 200 set the same thing (engine.context); give only "
            "one");
  EXPECT_EQ(error_of(load({"--port", "1", "--port", "2"})).message,
            "--port 1 and --port 2 set the same thing (server.port); give only one");
  EXPECT_EQ(load({"--port", "1", "--port", "1"})->server.port, 1);
}

TEST(Flags, UnknownOnesNameTheNearest) {
  EXPECT_EQ(error_of(load({"--prot", "80"})).message, "--prot is not a flag; did you mean --port?");
  EXPECT_EQ(error_of(load({"--max-modellen=80"})).message,
            "--max-modellen is not a flag; did you mean --max-model-len?");
  EXPECT_EQ(error_of(load({"--entirely-unrelated"})).message,
            "--entirely-unrelated is not a flag; --help lists the flags");
  EXPECT_EQ(error_of(load({"model.gguf"})).message,
            "\"model.gguf\" belongs to no flag; the model is named with --model model.gguf");
}

TEST(Flags, AMissingValueIsRefused) {
  const Error error = error_of(load({"--port"}));
  EXPECT_EQ(error.status, HALOGEN_E_INVALID);
  EXPECT_EQ(error.message, "--port: 1 required PORT missing");
}

TEST(Flags, SetReachesEveryKeyAndPluginTables) {
  Result<Profile> profile = load({"--set", "server.port=9000", "--set", "kv.pool_size=96G", "--set",
                                  "kv.prefix_cache=off", "--set", "backend.cpu.threads=8", "--set",
                                  "backend.cpu.pin=true", "--set", "backend.cpu.isa=avx512",
                                  "--set", "sampler.\"org.example.s\".seeds=[\"a\", \"b\"]"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->server.port, 9000);
  EXPECT_EQ(profile->origin("server.port"), "flag --set");
  EXPECT_EQ(profile->kv.pool_size, ByteSize::bytes(std::uint64_t{96} << 30));
  const PluginTable* cpu = profile->plugin_table("backend", "cpu");
  ASSERT_NE(cpu, nullptr);
  ASSERT_EQ(cpu->values.size(), 3u);
  EXPECT_EQ(std::get<std::int64_t>(cpu->values[0].value), 8);
  EXPECT_EQ(cpu->values[0].where, "flag --set");
  EXPECT_EQ(std::get<bool>(cpu->values[1].value), true);
  EXPECT_EQ(std::get<std::string>(cpu->values[2].value), "avx512");
  const PluginTable* sampler = profile->plugin_table("sampler", "org.example.s");
  ASSERT_NE(sampler, nullptr);
  EXPECT_EQ(std::get<std::vector<std::string>>(sampler->values[0].value),
            (std::vector<std::string>{"a", "b"}));
}

TEST(Flags, SetSaysWhatIsWrong) {
  EXPECT_EQ(error_of(load({"--set", "server.port"})).message,
            "--set server.port: expected KEY=VALUE, such as backend.cpu.threads=8");
  EXPECT_EQ(error_of(load({"--set", "server.port=eighty"})).message,
            "--set server.port=eighty: expected a whole number from 0 to 65535");
  EXPECT_EQ(error_of(load({"--set", "server.prot=80"})).message,
            "flag --set: server.prot is not a setting; did you mean server.port?");
  EXPECT_EQ(error_of(load({"--set", "two words=80"})).message,
            "--set two words=80: \"two words\" is not a key, such as server.port");
  EXPECT_EQ(error_of(load({"--set", "backend.isolation=process"})).message,
            "--set backend.isolation=\"process\" is not available in this version (it comes with "
            "backends "
            "in a process of their own)");
}

TEST(Flags, WorkInASubcommandOfAnotherProgram) {
  CLI::App program("halogen", "halogen");
  CLI::App* serve = program.add_subcommand("serve", "Serve a model.");
  program.add_subcommand("plan", "Plan.");
  FlagValues values;
  add_profile_flags(*serve, values);
  program.parse(std::vector<std::string>{"9000", "--port", "serve"});
  ASSERT_EQ(values.values.size(), 1u);
  EXPECT_EQ(values.values[0].key, "server.port");

  try {
    program.parse(std::vector<std::string>{"9000", "--prot", "serve"});
    FAIL() << "an unknown flag was accepted";
  } catch (const CLI::ParseError& error) {
    EXPECT_STREQ(error.what(), "--prot is not a flag; did you mean --port?");
  }
}

TEST(Help, IsAskedForRatherThanAnError) {
  Result<FlagValues> values = parse_flags({"--help"});
  ASSERT_TRUE(values.ok());
  EXPECT_TRUE(values->help);
}

TEST(Help, NamesTheWholeCommandInItsUsage) {
  constexpr std::string_view usage = "Usage: halogen serve --model PATH [flags]\n";
  EXPECT_NE(profile_help("halogen serve").find(usage), std::string::npos);
  CLI::App program("", "halogen");
  CLI::App* serve = program.add_subcommand("serve", "Serve a model.");
  FlagValues values;
  add_profile_flags(*serve, values);
  EXPECT_NE(serve->help().find(usage), std::string::npos) << serve->help();
  try {
    program.parse(std::vector<std::string>{"--help", "serve"});
    FAIL() << "no help was asked for";
  } catch (const CLI::CallForHelp&) {
    EXPECT_NE(program.help().find(usage), std::string::npos) << program.help();
  }
}

TEST(Help, ShowsEveryFlagKeyAndDefaultWithinAHundredColumns) {
  const std::string help = profile_help("halogen serve");
  // Line breaks may fall anywhere between words.
  std::string words;
  for (const char c : help)
    if (c != '\n' && !(c == ' ' && words.ends_with(' ')))
      words += c;
    else if (!words.ends_with(' '))
      words += ' ';
  for (const Setting& setting : settings()) {
    for (const std::string_view flag : setting.flags)
      EXPECT_NE(words.find(" " + std::string(flag)), std::string::npos) << flag;
    EXPECT_NE(words.find("[" + std::string(setting.key)), std::string::npos) << setting.key;
  }
  EXPECT_NE(words.find("[server.port; default 8080]"), std::string::npos);
  EXPECT_NE(words.find("One of: f16, f32, q8_0, q4_0, quantized. [kv.cache_type; default f16]"),
            std::string::npos);
  EXPECT_NE(words.find("One of: thread. Not available yet: process; comes with backends in a "
                       "process of their own. [backend.isolation; default thread]"),
            std::string::npos);
  EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << help;
  for (const Section& section : sections())
    EXPECT_NE(help.find("\n" + std::string(section.title) + ":\n"), std::string::npos)
        << section.title;
  std::size_t column = 0;
  for (const char c : help) {
    column = c == '\n' ? 0 : column + 1;
    ASSERT_LE(column, 100u) << help;
  }
}

}  // namespace
}  // namespace halogen
