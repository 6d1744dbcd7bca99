// Where values come from, and which source wins.
#include "core/config/load.h"

#include <gtest/gtest.h>

#include "core/config/schema.h"
#include "tests/unit/config/support.h"

namespace halogen {
namespace {

using test::environment_of;
using test::error_of;
using test::FromText;
using test::load;
using test::TemporaryFolder;

TEST(Load, WithoutAnySourceEverythingIsTheDefault) {
  Result<Profile> profile = load({});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->server.host, "127.0.0.1");
  EXPECT_EQ(profile->server.port, 8080);
  EXPECT_EQ(profile->kv.pool_size, ByteSize::percent_hundredths(8500));
  EXPECT_EQ(profile->kv.cache_type, CacheType::f16);
  EXPECT_EQ(profile->engine.tokens_per_step(), 512u);
  EXPECT_EQ(profile->engine.prefill_tokens_per_step(), 512u);
  EXPECT_EQ(profile->origin("server.port"), "default");
  EXPECT_TRUE(profile->origins.empty());
  for (const Setting& setting : settings())
    EXPECT_TRUE(setting.member.get(*profile) == default_value(setting)) << setting.key;
}

TEST(Load, LaterSourcesWinAndAreNamed) {
  TemporaryFolder folder;
  const std::string file =
      folder.write("halogen.toml",
                   "[server]\nport = 1\nmax_connections = 1\n[plugins]\npath = [\"from-file\"]\n"
                   "[engine]\nqueue_limit = 1\nbatch_size = 256\n");
  const std::string profile_file =
      folder.write("profiles/chat.toml",
                   "[server]\nmax_connections = 2\n[plugins]\npath = [\"from-profile\"]\n[engine]\n"
                   "queue_limit = 2\n");
  const Environment variables = environment_of({{"HALOGEN_PLUGIN_PATH", "one:two"}});
  Result<Profile> profile = load_profile(
      std::vector<std::string>{"--config", file, "--profile", "chat", "--queue-limit", "3"},
      variables, "/nonexistent");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->server.port, 1);
  EXPECT_EQ(profile->origin("server.port"), file + ":2");
  EXPECT_EQ(profile->server.max_connections, 2u);
  EXPECT_EQ(profile->origin("server.max_connections"), profile_file + ":2");
  EXPECT_EQ(profile->plugin_path, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(profile->origin("plugins.path"), "environment HALOGEN_PLUGIN_PATH");
  EXPECT_EQ(profile->engine.queue_limit, 3u);
  EXPECT_EQ(profile->origin("engine.queue_limit"), "flag --queue-limit");
  EXPECT_EQ(profile->engine.batch_size, 256u);
  EXPECT_EQ(profile->origin("engine.context"), "default");
}

TEST(Load, FlagsWinOverTheEnvironment) {
  const Environment variables = environment_of(
      {{"HALOGEN_PLUGIN_PATH", "one:two"}, {"HALOGEN_FLASH_CACHE_DIR", "/var/cache/kernels"}});
  Result<Profile> profile =
      load_profile(std::vector<std::string>{"--plugin-path", "three"}, variables, "/nonexistent");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->plugin_path, std::vector<std::string>{"three"});
  EXPECT_EQ(profile->backend.kernel_cache, "/var/cache/kernels");
}

TEST(Load, AnEmptyVariableIsAsIfItWereNotSet) {
  const Environment variables =
      environment_of({{"HALOGEN_PLUGIN_PATH", ""}, {"HALOGEN_CONFIG", ""}});
  Result<Profile> profile = load_profile(std::vector<std::string>{}, variables, "/nonexistent");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_TRUE(profile->origins.empty());
}

TEST(Load, TheProcessEnvironmentTellsUnsetFromSet) {
  EXPECT_EQ(process_environment()("HALOGEN_TEST_NEVER_SET"), std::nullopt);
  ASSERT_EQ(setenv("HALOGEN_TEST_SET", "value", 1), 0);
  EXPECT_EQ(process_environment()("HALOGEN_TEST_SET"), "value");
  unsetenv("HALOGEN_TEST_SET");
}

TEST(Load, TheFileIsTheFlagsThenTheVariablesThenTheSystems) {
  TemporaryFolder folder;
  const std::string by_flag = folder.write("flag.toml", "[server]\nport = 1\n");
  const std::string by_variable = folder.write("variable.toml", "[server]\nport = 2\n");
  const std::string by_system = folder.write("system.toml", "[server]\nport = 3\n");
  const Environment variables = environment_of({{"HALOGEN_CONFIG", by_variable}});
  const std::vector<std::string> none;
  const std::vector<std::string> flag = {"--config", by_flag};
  EXPECT_EQ(load_profile(flag, variables, by_system)->server.port, 1);
  EXPECT_EQ(load_profile(none, variables, by_system)->server.port, 2);
  EXPECT_EQ(load_profile(none, environment_of({}), by_system)->server.port, 3);
  EXPECT_EQ(load_profile(none, environment_of({}), folder / "none.toml")->server.port, 8080);
}

TEST(Load, AFileThatWasNamedMustExist) {
  TemporaryFolder folder;
  const std::string missing = folder / "missing.toml";
  const Error error = error_of(load({"--config", missing}));
  EXPECT_EQ(error.status, HALOGEN_E_NOT_FOUND);
  EXPECT_EQ(error.message, missing + ": cannot be read: No such file or directory");
  const Error variable = error_of(load_profile(
      std::vector<std::string>{}, environment_of({{"HALOGEN_CONFIG", missing}}), "/nonexistent"));
  EXPECT_EQ(variable.message, error.message);
}

TEST(Load, AFolderIsNotAFile) {
  TemporaryFolder folder;
  const Error error = error_of(load({"--config", folder / ""}));
  EXPECT_EQ(error.status, HALOGEN_E_IO);
  EXPECT_EQ(error.message, (folder / "") + ": cannot be read: Is a directory");
}

TEST(Load, AMissingProfileNamesTheOnesThatAreThere) {
  TemporaryFolder folder;
  const std::string file = folder.write("halogen.toml", "");
  folder.write("profiles/b.toml", "");
  folder.write("profiles/a.toml", "");
  folder.write("profiles/notes.txt", "");
  const Error error = error_of(load({"--config", file, "--profile", "c"}));
  EXPECT_EQ(error.status, HALOGEN_E_NOT_FOUND);
  EXPECT_EQ(error.message,
            "--profile c: " + (folder / "profiles/c.toml") + " does not exist; there are a, b");
}

TEST(Load, AProfileIsANameAndNotAPath) {
  for (const std::string name : {"../secret", "/etc/passwd", ".hidden"}) {
    EXPECT_EQ(error_of(load({"--profile", name})).message,
              "--profile " + name + ": expected a name without '/'; a file is given with --config");
  }
}

TEST(Load, EveryTomlFormOfAValueIsRead) {
  const FromText loaded(R"([server]
api_keys = "only-one"
body_limit = 2048
drain_timeout = 5
[model]
served_model_name = ["a", "b"]
[engine]
context = "auto"
[kv]
pool_size = "auto"
[attention]
flash = true
[sampling]
temperature = 1
min_p = 5e-2
)");
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  const Profile& profile = loaded.profile();
  EXPECT_EQ(profile.server.api_keys, std::vector<std::string>{"only-one"});
  EXPECT_EQ(profile.server.body_limit, ByteSize::bytes(2048));
  EXPECT_EQ(profile.server.drain_timeout.count(), 5000);
  EXPECT_EQ(profile.model.served_model_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(profile.engine.context, 0u);
  EXPECT_EQ(profile.kv.pool_size, ByteSize::percent_hundredths(8500));
  EXPECT_EQ(profile.attention.flash, FlashAttention::forced);
  EXPECT_EQ(profile.sampling.temperature, 1.0);
  EXPECT_EQ(profile.sampling.min_p, 0.05);
}

TEST(Load, KeysAndValuesAreStoredAsCacheTypeSaysUnlessTheySayOtherwise) {
  const Profile both = FromText("[kv]\ncache_type = \"q8_0\"\n").profile();
  EXPECT_EQ(both.kv.key_type(), CacheType::q8_0);
  EXPECT_EQ(both.kv.value_type(), CacheType::q8_0);
  const Profile values =
      FromText("[kv]\ncache_type = \"q8_0\"\ncache_type_v = \"q4_0\"\n").profile();
  EXPECT_EQ(values.kv.key_type(), CacheType::q8_0);
  EXPECT_EQ(values.kv.value_type(), CacheType::q4_0);
  const Profile keys = FromText("[kv]\ncache_type_k = \"q4_0\"\n").profile();
  EXPECT_EQ(keys.kv.key_type(), CacheType::q4_0);
  EXPECT_EQ(keys.kv.value_type(), CacheType::f16);
}

TEST(Load, FlashAttentionTakesEverySpellingOfItsThreeModes) {
  for (const std::string text : {"1", "true", "\"on\"", "\"1\""})
    EXPECT_EQ(FromText("attention.flash = " + text).profile().attention.flash,
              FlashAttention::forced);
  for (const std::string text : {"0", "false", "\"off\"", "\"0\""})
    EXPECT_EQ(FromText("attention.flash = " + text).profile().attention.flash,
              FlashAttention::forbidden);
  EXPECT_EQ(FromText("attention.flash = \"auto\"").profile().attention.flash,
            FlashAttention::automatic);
}

TEST(Load, EmptyTablesAreHarmless) {
  EXPECT_TRUE(FromText("[server]\n[loader]\n[backend.cpu]\n[sampler]\n").ok());
}

TEST(PluginTables, KeepTypesOrderAndPlaces) {
  TemporaryFolder folder;
  const std::string file = folder.write(
      "halogen.toml",
      "[backend.cpu]\nthreads = 8\npin = true\nshare = 0.5\nisa = \"avx512\"\ncores = [\"0\", "
      "\"1\"]\ntiles.rows = 4\n[loader.\"com.example.fast\"]\nx = 1\n");
  Result<Profile> profile = load({"--config", file});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  ASSERT_EQ(profile->plugin_tables.size(), 2u);
  const PluginTable* cpu = profile->plugin_table("backend", "cpu");
  ASSERT_NE(cpu, nullptr);
  ASSERT_EQ(cpu->values.size(), 6u);
  EXPECT_EQ(cpu->values[0].key, "threads");
  EXPECT_EQ(std::get<std::int64_t>(cpu->values[0].value), 8);
  EXPECT_EQ(cpu->values[0].where, file + ":2");
  EXPECT_EQ(std::get<bool>(cpu->values[1].value), true);
  EXPECT_EQ(std::get<double>(cpu->values[2].value), 0.5);
  EXPECT_EQ(std::get<std::string>(cpu->values[3].value), "avx512");
  EXPECT_EQ(std::get<std::vector<std::string>>(cpu->values[4].value),
            (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(cpu->values[5].key, "tiles.rows");
  EXPECT_NE(profile->plugin_table("loader", "com.example.fast"), nullptr);
  EXPECT_EQ(profile->plugin_table("loader", "cpu"), nullptr);
}

TEST(PluginTables, LaterSourcesReplaceSingleKeys) {
  const FromText loaded("[backend.cpu]\nthreads = 8\npin = true\n",
                        {"--set", "backend.cpu.threads=4"});
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  const PluginTable* cpu = loaded.profile().plugin_table("backend", "cpu");
  ASSERT_EQ(cpu->values.size(), 2u);
  EXPECT_EQ(std::get<std::int64_t>(cpu->values[0].value), 4);
  EXPECT_EQ(cpu->values[0].where, "flag --set");
}

TEST(RequireModel, SaysHowToNameOne) {
  Result<Profile> none = load({});
  EXPECT_EQ(require_model(*none).error().message,
            "no model is named; give --model FILE_OR_FOLDER, or model.path in the TOML file");
  Result<Profile> one = load({"-m", "x.gguf"});
  EXPECT_TRUE(require_model(*one).ok());
}

TEST(Notices, NameWhatHasNoEffectAndWhatIsOpen) {
  EXPECT_TRUE(profile_notices(*load({})).empty());
  EXPECT_EQ(
      profile_notices(*load({"--kernel-cache", "/tmp/k", "--host", "0.0.0.0"})),
      (std::vector<std::string>{
          "backend.kernel_cache (flag --kernel-cache) has no effect on the cpu backend, which auto "
          "takes in this version: it compiles nothing",
          "server.host = \"0.0.0.0\" (flag --host) serves everybody who reaches this machine; "
          "server.api_keys would ask for a key"}));
  EXPECT_EQ(profile_notices(*load({"--backend", "cpu", "--kernel-cache", "/tmp/k"})),
            std::vector<std::string>{"backend.kernel_cache (flag --kernel-cache) has no effect on "
                                     "the cpu backend: it compiles nothing"});
  EXPECT_TRUE(profile_notices(*load({"--backend", "vulkan", "--kernel-cache", "/tmp/k"})).empty());
  EXPECT_TRUE(profile_notices(*load({"--flash-attn", "1"})).empty());
  EXPECT_TRUE(profile_notices(*load({"--host", "0.0.0.0", "--api-key", "k"})).empty());
  EXPECT_TRUE(profile_notices(*load({"--host", "0.0.0.0", "--api-key-file", "f"})).empty());
  EXPECT_EQ(profile_notices(*load({"--cors-origin", "*"})),
            std::vector<std::string>{
                "server.cors_origins (flag --cors-origin) lets every web page use this server "
                "through its visitors' browsers; server.api_keys would ask for a key"});
  EXPECT_TRUE(profile_notices(*load({"--cors-origin", "*", "--api-key", "k"})).empty());
}

}  // namespace
}  // namespace halogen
