// Damaged files through everything that loading is: loader, model builder, tokenizer. Each that
// deserves an error gets one sentence naming the file, and each legal oddity loads.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/cli/runtime.h"
#include "core/config/load.h"
#include "core/serve/served_model.h"
#include "tests/models/golden.h"

namespace halogen::test {
namespace {

namespace fs = std::filesystem;

// Runs mutate.py; its files are in `folder` afterwards. False where there is no Python or no data.
bool make_damaged_files(const fs::path& folder, const fs::path& list) {
  const std::string script = data_path("gguf-damaged/mutate.py");
  const std::string bases = " --stories " + data_path("stories260K/stories260K-F16.gguf") +
                            " --qwen " + data_path("gguf/qwen2-tiny-bf16.gguf");
  if (!fs::exists(script)) return false;
  fs::create_directories(folder);
  const std::string make = "python3 " + script + " " + folder.string() + bases + " > /dev/null";
  const std::string tell = "python3 " + script + " --list --json" + bases + " > " + list.string();
  return std::system(make.c_str()) == 0 && std::system(tell.c_str()) == 0;
}

TEST(DamagedModels, GetOneErrorThatNamesTheFileOrLoad) {
  const fs::path folder = fs::path(testing::TempDir()) / "halogen-damaged";
  const fs::path list = folder.string() + ".json";
  if (!make_damaged_files(folder, list)) GTEST_SKIP() << "gguf-damaged or python3 is missing";

  FlagValues flags;
  flags.assignments = {"kv.pool_size=64M", "engine.max_batch_tokens=64", "backend.cpu.threads=1"};
  auto profile = load_profile(flags, [](const char*) { return std::nullopt; }, "");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  profile->plugin_path = {HALOGEN_BUILD_DIR "/plugins"};
  profile->log.level = LogLevel::error;
  cli::start_log(profile->log);
  auto runtime = cli::Runtime::create(*profile);
  ASSERT_TRUE(runtime.ok()) << runtime.error().message;

  std::ifstream cases(list);
  int refused = 0, loaded = 0;
  for (std::string line; std::getline(cases, line);) {
    const auto entry = nlohmann::json::parse(line);
    const std::string name = entry["name"], expect = entry["expect"];
    profile->model.path = (folder / (name + ".gguf")).string();
    if (!fs::exists(profile->model.path)) continue;
    auto model = ServedModel::load(*profile, (*runtime)->plugins(), {});
    if (expect == "error") {
      EXPECT_FALSE(model.ok()) << name << ": " << entry["note"];
    }
    if (expect == "ok") {
      EXPECT_TRUE(model.ok()) << name << ": " << (model ? "" : model.error().message);
    }
    (model ? loaded : refused)++;
    if (model) continue;
    EXPECT_NE(model.error().message.find(profile->model.path), std::string::npos)
        << name << ": " << model.error().message;
    EXPECT_EQ(model.error().message.find('\n'), std::string::npos)
        << name << ": " << model.error().message;
  }
  std::cout << refused << " refused, " << loaded << " loaded\n";
  EXPECT_GT(refused, 130);
  fs::remove_all(folder);
  fs::remove(list);
}

}  // namespace
}  // namespace halogen::test
