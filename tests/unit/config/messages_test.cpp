// Every class of error in a file, word for word: what, where, what is expected.
#include <gtest/gtest.h>

#include "tests/unit/config/support.h"

namespace halogen {
namespace {

using test::FromText;

TEST(Messages, UnknownKeys) {
  EXPECT_EQ(FromText("[server]\nprot = 80\n").message(),
            "FILE:2: server.prot is not a setting; did you mean server.port?");
  EXPECT_EQ(FromText("port = 80\n").message(),
            "FILE:1: port is not a setting; did you mean server.port?");
  EXPECT_EQ(FromText("[model]\n\ncontext = 80\n").message(),
            "FILE:3: model.context is not a setting; did you mean engine.context?");
  EXPECT_EQ(FromText("[server]\nunrelated_thing = 1\n").message(),
            "FILE:2: server.unrelated_thing is not a setting");
  EXPECT_EQ(FromText("[backend]\nnam = \"cpu\"\n").message(),
            "FILE:2: backend.nam is not a setting; did you mean backend.name?");
  EXPECT_EQ(FromText("[backend.name]\nthreads = 1\n").message(),
            "FILE:2: backend.name.threads is not a setting");
}

TEST(Messages, UnknownTables) {
  EXPECT_EQ(FromText("[sevrer]\n").message(),
            "FILE:1: [sevrer] is not a table of settings; did you mean [server]?");
  EXPECT_EQ(FromText("[something]\n").message(), "FILE:1: [something] is not a table of settings");
  EXPECT_EQ(FromText("[sevrer]\nport = 1\n").message(),
            "FILE:2: sevrer.port is not a setting; did you mean server.port?");
  EXPECT_EQ(FromText("server = 1\n").message(),
            "FILE:1: server is a table: write [server] and its settings below it");
}

TEST(Messages, WrongTypes) {
  EXPECT_EQ(FromText("[server]\nport = \"eighty\"\n").message(),
            "FILE:2: server.port = \"eighty\": expected a whole number from 0 to 65535");
  EXPECT_EQ(FromText("[server]\nport = \"80\"\n").message(),
            "FILE:2: server.port = \"80\": expected a whole number from 0 to 65535");
  EXPECT_EQ(FromText("[server]\nport = 80.5\n").message(),
            "FILE:2: server.port = 80.5: expected a whole number from 0 to 65535");
  EXPECT_EQ(FromText("[server]\nhost = 127\n").message(),
            "FILE:2: server.host = 127: expected text");
  EXPECT_EQ(FromText("[server]\nhost = [\"a\"]\n").message(),
            "FILE:2: server.host = [\"a\"]: expected text");
  EXPECT_EQ(FromText("[metrics]\nenabled = 1\n").message(),
            "FILE:2: metrics.enabled = 1: expected on or off (true or false)");
  EXPECT_EQ(FromText("[metrics]\nenabled = \"on\"\n").message(),
            "FILE:2: metrics.enabled = \"on\": expected on or off (true or false)");
  EXPECT_EQ(FromText("[sampling]\ntemperature = \"hot\"\n").message(),
            "FILE:2: sampling.temperature = \"hot\": expected a number from 0.0 to 5.0");
  EXPECT_EQ(
      FromText("[plugins]\npath = [1, 2]\n").message(),
      "FILE:2: plugins.path = <an array that is not of texts>: expected a list of texts, none "
      "empty");
  EXPECT_EQ(FromText("[plugins]\npath = [\"a\", \"\"]\n").message(),
            "FILE:2: plugins.path = [\"a\", \"\"]: expected a list of texts, none empty");
  EXPECT_EQ(FromText("[server]\nport = 2026-01-02\n").message(),
            "FILE:2: server.port = <a date>: expected a whole number from 0 to 65535");
  EXPECT_EQ(FromText("[server.port]\n").message(),
            "FILE:1: server.port = <a table>: expected a whole number from 0 to 65535");
  EXPECT_EQ(FromText("[log]\nlevel = \"loud\"\n").message(),
            "FILE:2: log.level = \"loud\": expected debug, info, warn or error");
}

TEST(Messages, SamplingThatCannotBe) {
  EXPECT_EQ(FromText("[sampling]\nsamplers = [\"top_k\", \"infill\"]\n").message(),
            "sampling.samplers (FILE:2) has \"infill\", which is no stage; there are penalties, "
            "dry, top_n_sigma, top_k, temperature, typical_p, top_p, min_p, xtc");
  EXPECT_EQ(FromText("[sampling]\nsamplers = [\"typical_p\", \"typ_p\"]\n").message(),
            "sampling.samplers (FILE:2) has \"typ_p\" twice");
  EXPECT_EQ(FromText("[sampling]\nmirostat = 1\n").message(),
            "sampling.mirostat = 1 (FILE:2): mirostat 1 is not supported: use 2, which aims at the "
            "same surprise");
  EXPECT_EQ(FromText("[sampling]\ndry_sequence_breakers = [\"" + std::string(33, 'x') + "\"]\n")
                .message(),
            "sampling.dry_sequence_breakers (FILE:2) has a text of more than 32 bytes");
}

TEST(Messages, OutOfRange) {
  EXPECT_EQ(FromText("[server]\nport = 65536\n").message(),
            "FILE:2: server.port = 65536: expected a whole number from 0 to 65535");
  EXPECT_EQ(FromText("[server]\nport = -1\n").message(),
            "FILE:2: server.port = -1: expected a whole number from 0 to 65535");
  EXPECT_EQ(FromText("[engine]\ncontext = 0\n").message(),
            "FILE:2: engine.context = 0: expected a whole number from 1 to 16777216, or auto");
  EXPECT_EQ(FromText("[sampling]\nrepeat_penalty = 0\n").message(),
            "FILE:2: sampling.repeat_penalty = 0: expected a number above 0.0, at most 100.0");
  EXPECT_EQ(FromText("[sampling]\ntop_p = nan\n").message(),
            "FILE:2: sampling.top_p = nan: expected a number from 0.0 to 1.0");
  EXPECT_EQ(FromText("[sampling]\ntemperature = inf\n").message(),
            "FILE:2: sampling.temperature = inf: expected a number from 0.0 to 5.0");
  EXPECT_EQ(FromText("[kv]\nblock_tokens = 24\n").message(),
            "FILE:2: kv.block_tokens = 24: expected a power of two from 8 to 512");
  EXPECT_EQ(FromText("[server]\ndrain_timeout = \"25h\"\n").message(),
            "FILE:2: server.drain_timeout = \"25h\": expected a duration from 0s to 24h");
}

TEST(Messages, ImpossibleSizes) {
  EXPECT_EQ(
      FromText("[kv]\npool_size = \"12Q\"\n").message(),
      "FILE:2: kv.pool_size = \"12Q\": expected a percentage up to 100%, or a size from 1M to "
      "1024T, or auto; \"12Q\" ends in \"Q\", which is none of K, M, G, T and %");
  EXPECT_EQ(
      FromText("[kv]\npool_size = \"99999999T\"\n").message(),
      "FILE:2: kv.pool_size = \"99999999T\": expected a percentage up to 100%, or a size from "
      "1M to 1024T, or auto; \"99999999T\" is too large");
  EXPECT_EQ(FromText("[kv]\npool_size = \"0%\"\n").message(),
            "FILE:2: kv.pool_size = \"0%\": expected a percentage up to 100%, or a size from 1M to "
            "1024T, or auto");
  EXPECT_EQ(FromText("[kv]\npool_size = 96\n").message(),
            "FILE:2: kv.pool_size = 96: expected a percentage up to 100%, or a size from 1M to "
            "1024T, or auto");
  EXPECT_EQ(FromText("[server]\nbody_limit = \"50%\"\n").message(),
            "FILE:2: server.body_limit = \"50%\": expected a size from 1K to 1G");
  EXPECT_EQ(
      FromText("[server]\nbody_limit = -1\n").message(),
      "FILE:2: server.body_limit = -1: expected a size from 1K to 1G; \"-1\" is not a size: it "
      "must begin with a digit");
}

TEST(Messages, FeaturesOfLaterVersions) {
  const FromText isolation("[backend]\nisolation = \"process\"\n");
  EXPECT_EQ(isolation.status(), HALOGEN_E_UNSUPPORTED);
  EXPECT_TRUE(FromText("[backend]\nisolation = \"thread\"\n").ok());
  EXPECT_EQ(isolation.message(),
            "FILE:2: backend.isolation = \"process\" is not available in this version (it comes "
            "with backends in a process of their own)");
}

TEST(Messages, NotToml) {
  EXPECT_EQ(FromText("[server]\nport = \n").message().substr(0, 24), "FILE:2: not valid TOML: ");
  EXPECT_EQ(FromText("[server]\nport = 1\nport = 2\n").message().substr(0, 24),
            "FILE:3: not valid TOML: ");
}

TEST(Messages, AllErrorsOfAllSourcesInTheOrderOfTheirLines) {
  const FromText loaded(
      "[server]\nprot = 1\nhost = 1\n\n[backend]\nisolation = \"process\"\n\n[backend.cpu]\nsince "
      "= "
      "2026-01-02\n",
      {"--port", "eighty"});
  EXPECT_EQ(loaded.message(),
            "FILE:2: server.prot is not a setting; did you mean server.port?\n"
            "FILE:3: server.host = 1: expected text\n"
            "FILE:6: backend.isolation = \"process\" is not available in this version (it comes "
            "with backends in a process of their own)\n"
            "FILE:9: backend.cpu.since is a date, which no plugin's setting takes\n"
            "--port eighty: expected a whole number from 0 to 65535 [server.port]");
  EXPECT_EQ(loaded.status(), HALOGEN_E_INVALID);
}

TEST(Messages, DoNotQuoteSecrets) {
  EXPECT_EQ(FromText("[server]\napi_keys = [\"hunter2\", \"\"]\n").message(),
            "FILE:2: server.api_keys = (hidden): expected a list of texts, none empty");
  EXPECT_EQ(FromText("", {"--set", "server.api_keys=[\"hunter2\", 1]"}).message(), "no error");
}

TEST(Messages, ContradictionsBetweenSettings) {
  EXPECT_EQ(FromText("[engine]\nbatch_size = 4096\n").message(),
            "engine.batch_size = 4096 (FILE:2) is more than engine.max_batch_tokens = 512 "
            "(default): a step cannot hold more tokens than its memory");
  EXPECT_EQ(FromText("[engine]\nprefill_batch_size = 300\n", {"--batch-size", "256"}).message(),
            "engine.prefill_batch_size = 300 (FILE:2) is more than engine.batch_size = 256 (flag "
            "--batch-size): a step cannot hold more prompt tokens than tokens");
  EXPECT_EQ(FromText("[engine]\nprefill_batch_size = 3000\n").message(),
            "engine.prefill_batch_size = 3000 (FILE:2) is more than engine.max_batch_tokens = 512 "
            "(default): a step cannot hold more prompt tokens than tokens");
  EXPECT_EQ(
      FromText("[engine]\nmax_batch_tokens = 8\n").message(),
      "engine.max_concurrent_requests = 16 (default) is more than engine.max_batch_tokens = 8 "
      "(FILE:2): every running request needs a token in each step");
  EXPECT_TRUE(FromText("[engine]\nmax_batch_tokens = 16\nbatch_size = 16\n"
                       "prefill_batch_size = 16\n")
                  .ok());
}

TEST(Messages, NamesThatCannotBePlugins) {
  EXPECT_EQ(FromText("[backend]\nname = \"../evil\"\n").message(),
            "backend.name = \"../evil\" (FILE:2): expected a plugin's name: letters, digits, '.', "
            "'_' and '-'");
  EXPECT_EQ(FromText("[sampler]\nname = \"\"\n").message(),
            "sampler.name = \"\" (FILE:2): expected a plugin's name: letters, digits, '.', '_' and "
            "'-'");
  EXPECT_EQ(FromText("[server]\nhost = \"\"\n").message(),
            "server.host is empty (FILE:2): expected an address, such as 127.0.0.1");
}

}  // namespace
}  // namespace halogen
