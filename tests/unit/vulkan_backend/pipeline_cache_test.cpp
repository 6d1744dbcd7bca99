#include "plugins/vulkan/pipeline_cache.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/vulkan_backend/any_device.h"

namespace halogen::vulkan {
namespace {

std::vector<std::string> warnings;

const Host& warning_host() {
  static const halogen_host table = [] {
    halogen_host made{};
    made.struct_size = sizeof made;
    made.log = [](const halogen_host*, halogen_log_level level, halogen_string message) {
      if (level == HALOGEN_LOG_WARNING) warnings.emplace_back(message.data, message.size);
    };
    return made;
  }();
  static const Host host(&table);
  return host;
}

class PipelineCacheFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    any_ = AnyDevice::open(reason);
    if (!any_) GTEST_SKIP() << reason;
    warnings.clear();
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // As a backend does: read, and save what was compiled.
  void start(const std::string& folder) {
    PipelineCache cache(any_->device, folder, warning_host());
    cache.save();
    cache.save();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.push_back(entry.path().string());
    return names;
  }

  std::unique_ptr<AnyDevice> any_;
  std::string folder_ = testing::TempDir() + "vulkan-cache-" + std::to_string(::getpid());
};

TEST_F(PipelineCacheFile, IsWrittenOnceUnderItsNameAndReadAgain) {
  start(folder_);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_TRUE(files()[0].ends_with(".pipelines"));
  const auto written = std::filesystem::last_write_time(files()[0]);
  start(folder_);
  EXPECT_EQ(std::filesystem::last_write_time(files()[0]), written);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(PipelineCacheFile, ThatIsDamagedIsReportedAndReplaced) {
  start(folder_);
  const auto size = std::filesystem::file_size(files()[0]);
  std::filesystem::resize_file(files()[0], size - 1);
  start(folder_);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("damaged"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(files()[0]), size);
}

TEST_F(PipelineCacheFile, ThatCannotBeWrittenIsReportedOnce) {
  std::ofstream(folder_) << "a file where the folder would be";
  start(folder_ + "/inside");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("inside"), std::string::npos);
}

}  // namespace
}  // namespace halogen::vulkan
