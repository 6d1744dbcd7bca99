// What is said of a model before it is loaded agrees with what loading it then takes.
#include <gtest/gtest.h>

#include "core/cli/runtime.h"
#include "core/config/load.h"
#include "core/graph/ledger.h"
#include "core/serve/served_model.h"

namespace halogen {
namespace {

class ModelNeedsOfTheDemoModel : public testing::Test {
 protected:
  void SetUp() override {
    FlagValues flags;
    flags.assignments = {"engine.context=256", "kv.pool_size=64M"};
    auto profile = load_profile(flags, [](const char*) { return std::nullopt; }, "");
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    profile_ = std::move(*profile);
    profile_.model.path = HALOGEN_SOURCE_DIR "/models/demo-15m-q4_k_m.gguf";
    profile_.plugin_path = {HALOGEN_BUILD_DIR "/plugins"};
    auto runtime = cli::Runtime::create(profile_);
    ASSERT_TRUE(runtime.ok()) << runtime.error().message;
    runtime_ = std::move(*runtime);
  }

  Profile profile_;
  std::unique_ptr<cli::Runtime> runtime_;
};

TEST_F(ModelNeedsOfTheDemoModel, AreThoseOfTheLoadedModel) {
  auto needs = ServedModel::examine(profile_, runtime_->plugins());
  ASSERT_TRUE(needs.ok()) << needs.error().message;
  auto model = ServedModel::load(profile_, runtime_->plugins(), {});
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(needs->limits.max_context, (*model)->limits().max_context);
  EXPECT_EQ(needs->memory.weight_bytes, (*model)->ledger().weight_bytes());
  auto blocks = plan_kv_blocks(needs->memory);
  ASSERT_TRUE(blocks.ok());
  EXPECT_EQ(*blocks, (*model)->limits().total_blocks);
}

TEST_F(ModelNeedsOfTheDemoModel, ABlockOfTheBackendHoldsWhatTheLedgerCounts) {
  auto needs = ServedModel::examine(profile_, runtime_->plugins());
  ASSERT_TRUE(needs.ok()) << needs.error().message;
  const Ledger ledger(needs->graph.table(), needs->geometry.key_type, needs->geometry.value_type);
  EXPECT_EQ(needs->memory.block_bytes, ledger.kv_token_bytes() * needs->geometry.block_tokens);
}

}  // namespace
}  // namespace halogen
