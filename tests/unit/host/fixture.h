// What the host's tests share: a folder of plugins, a loop, a log that can be read.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/metrics.h"
#include "core/host/registry.h"
#include "probe.h"

namespace halogen::test {

namespace fs = std::filesystem;

// The plugin ABI of this host: "1.0".
inline const std::string kOurAbi =
    std::to_string(HALOGEN_ABI_MAJOR) + '.' + std::to_string(HALOGEN_ABI_MINOR);

// A folder of its own that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "halogen-host-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }

 private:
  fs::path path_;
};

// A loop of one thread that runs what is posted; can be held up.
class TestLoop : public LoopPoster {
 public:
  TestLoop() : thread_([this] { serve(); }) {}
  ~TestLoop() override {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      held_ = false;
    }
    wake_.notify_all();
    thread_.join();
  }
  void post(halogen_run run, void* argument) override {
    const std::scoped_lock lock(mutex_);
    queue_.emplace_back(run, argument);
    wake_.notify_all();
  }
  bool on_loop_thread() const override { return std::this_thread::get_id() == thread_.get_id(); }
  void hold(bool held) {
    const std::scoped_lock lock(mutex_);
    held_ = held;
    wake_.notify_all();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return !held_ && (stopped_ || !queue_.empty()); });
      if (queue_.empty()) return;
      const auto [run, argument] = queue_.front();
      queue_.pop_front();
      lock.unlock();
      run(argument);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<halogen_run, void*>> queue_;
  bool held_ = false, stopped_ = false;
  std::thread thread_;
};

// The lines logged while it exists.
class CapturedLog {
 public:
  CapturedLog() {
    log_init({LogLevel::debug, LogFormat::text, [this](std::string_view line) {
                const std::scoped_lock lock(mutex_);
                lines_.emplace_back(line);
              }});
  }
  ~CapturedLog() { log_init({}); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  size_t count(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    return static_cast<size_t>(std::count_if(
        lines_.begin(), lines_.end(),
        [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// A manifest for the probe plugins; each part can be replaced.
struct ProbeManifest {
  std::string id = "org.example.probe";
  std::string version = "1.0.0";
  std::string kinds = R"(["halogen.probe/1"])";
  std::string provides = R"({probe = "probe"})";
  std::string library = "probe.so";
  std::string more = "package = \"halogen-probe-probe\"\n";

  std::string text() const {
    return "id = \"" + id + "\"\nname = \"Probe\"\nversion = \"" + version +
           "\"\nkinds = " + kinds + "\nprovides = " + provides +
           "\nabi = {major = 1, least_host_minor = 0}\nlibrary = \"" + library + "\"\n" + more;
  }
};

// How many mappings of private copies this process has.
inline size_t mapped_copies() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("/memfd:") != std::string::npos ? 1 : 0;
  return count;
}

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As some strippers leave an object.
inline std::string without_section_headers(std::string bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

inline size_t entries_of(const char* folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

// What a plugin could leave in the process.
struct Census {
  size_t copies = mapped_copies();
  size_t descriptors = entries_of("/proc/self/fd");
  size_t threads = entries_of("/proc/self/task");
  bool operator==(const Census&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Census& census) {
    return out << census.copies << " mappings of plugins, " << census.descriptors
               << " descriptors, " << census.threads << " threads";
  }
};

// A byte that plugins of these tests wait for. The ends stay open: threads that were given up read
// from them.
class Release {
 public:
  Release() {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    setenv("PROBE_RELEASE_FD", std::to_string(ends_[0]).c_str(), 1);
  }
  void give() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }

 private:
  int ends_[2];
};

// With what cannot end, there is no point in waiting long.
constexpr std::chrono::milliseconds kShortPatience{300};

class HostTest : public testing::Test {
 protected:
  // `patience`: with what a plugin leaves; long, for a busy machine, where nothing is left.
  explicit HostTest(std::chrono::milliseconds patience = std::chrono::seconds(60))
      : host({{{folder.path(), {}, "test"}}, patience}, metrics, loop) {}

  // Puts a built test plugin (such as "v1") at probe.so, with a manifest beside it.
  void install(const std::string& built, const ProbeManifest& manifest = {}) {
    replace_library(built);
    folder.write("probe.toml", manifest.text());
  }
  void replace_library(const std::string& built) {
    fs::copy_file(fs::path(HALOGEN_TEST_PROBES) / (built + ".so"), library(),
                  fs::copy_options::overwrite_existing);  // in place: the same inode
  }
  fs::path library() const { return folder.path() / "probe.so"; }

  static const probe_factory& probe(const PluginHandle& handle) {
    return *handle->factory_as<probe_factory>(PROBE_KIND);
  }

  // A good plugin loads, works and unloads.
  void expect_good() {
    install("v1");
    auto good = host.load(PROBE_KIND, "probe");
    ASSERT_TRUE(good.ok()) << good.error().message;
    EXPECT_EQ(probe(*good).answer(), 1);
    EXPECT_TRUE(host.unload(*good).ok());
  }

  const size_t mapped_before = mapped_copies();  // residents of earlier tests
  TemporaryFolder folder;
  CapturedLog log;
  MetricRegistry metrics;
  TestLoop loop;
  PluginHost host;
};

}  // namespace halogen::test
