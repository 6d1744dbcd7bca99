#include "core/check/loader/loader_cases.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "halogen/loader.h"

#include "core/check/entries.h"
#include "core/check/loader/describe.h"
#include "core/check/loader/tiny_gguf.h"

namespace halogen::check {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTinyName = "tiny.gguf";
constexpr uint64_t kMostDamagedBytes = 1 << 20;  // larger files are described, not damaged
constexpr uint64_t kLeastDamagedBytes = 64;      // no model fits into less
constexpr uint64_t kMostMemory = uint64_t{512} << 20;

// A sanitizer's own memory breaks every limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

uint64_t status_pages(size_t field) {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  for (size_t i = 0; i <= field; i++) file >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// While it lives, the process may map only so much more.
class MemoryLimit {
 public:
  MemoryLimit() {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit limited = before_;
    limited.rlim_cur = std::min<rlim_t>(before_.rlim_max, status_pages(0) + kMostMemory);
    if (!kSanitized) ::setrlimit(RLIMIT_AS, &limited);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

size_t open_files() {
  return entries_of("/proc/self/fd");
}

class Session {
 public:
  // Empty, or why there is no loader.
  std::string open(Subject& subject) {
    if (loader_) return {};
    const auto* loader = subject.factory<halogen_loader_factory>(HALOGEN_LOADER_KIND);
    if (!loader) return subject.error();
    auto settings = subject.settings("loader", {loader->config_keys, loader->n_config_keys});
    if (!settings) return settings.error().message;
    settings_.emplace(std::move(*settings));
    loader_ = loader;
    return {};
  }
  const halogen_loader_factory& loader() const { return *loader_; }

  uint32_t probe(const fs::path& path, const std::string& first) const {
    const auto* bytes = reinterpret_cast<const uint8_t*>(first.data());
    return loader_->probe(path.c_str(), first.empty() ? nullptr : bytes, first.size());
  }

  // Opens a file that must be right.
  Outcome good(const fs::path& path,
               const std::function<void(const halogen_model*, Findings&)>& more) {
    Findings findings;
    halogen_model* model = nullptr;
    halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
    const halogen_status status = loader_->open(path.c_str(), settings_->config(), &model, &error);
    if (!findings.expect(status == HALOGEN_OK && model,
                         std::string("a good file is refused: ") + error.message))
      return findings.outcome();
    check_description(*loader_, model, findings);
    if (more && !findings.failed()) more(model, findings);
    loader_->close(model);
    return findings.outcome();
  }

  // Opens one that may be wrong: it is described soundly, or refused with a sentence that names it.
  Outcome any(const fs::path& path, bool must_fail = false) {
    const size_t files = open_files();
    Findings findings;
    {
      const MemoryLimit limit;
      halogen_model* model = nullptr;
      halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
      const halogen_status status =
          loader_->open(path.c_str(), settings_->config(), &model, &error);
      if (status == HALOGEN_OK) {
        findings.expect(!must_fail, "it is opened without an error");
        if (findings.expect(model != nullptr, "open succeeds without a model")) {
          check_description(*loader_, model, findings);
          loader_->close(model);
        }
      } else {
        const std::string message(error.message, strnlen(error.message, sizeof error.message));
        findings.expect(status != HALOGEN_E_NO_MEMORY, "opening it takes more than " +
                                                           std::to_string(kMostMemory >> 20) +
                                                           " MiB of memory: " + message);
        findings.expect(!message.empty(), "it is refused without a message");
        findings.expect(message.find(path.filename().string()) != std::string::npos,
                        "the message does not name the file: " + message);
        findings.expect(status != HALOGEN_E_INTERNAL, "a bug shows itself: " + message);
      }
    }
    loader_->open(must_fail ? path.c_str() : "/no/such/file", settings_->config(),
                  std::make_unique<halogen_model*>().get(), nullptr);  // the error may be null
    findings.expect(open_files() == files, "a file stays open behind it");
    return findings.outcome();
  }

 private:
  const halogen_loader_factory* loader_ = nullptr;
  std::optional<ConfigView> settings_;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::ssize(bytes));
}

// A good file that the damage starts from.
struct Good {
  std::string name;
  fs::path path;  // empty: the suite's own
  std::string bytes() const { return path.empty() ? tiny_gguf().bytes : read_file(path); }
};

class List {
 public:
  explicit List(std::vector<Case>& cases) : cases_(cases), session_(std::make_shared<Session>()) {}

  void add(const std::string& name, bool quick, std::function<Outcome(Subject&, Session&)> run) {
    cases_.push_back({"loader", name,
                      [session = session_, run = std::move(run)](Subject& subject) -> Outcome {
                        if (const std::string why = session->open(subject); !why.empty())
                          return Outcome::failed(why);
                        return run(subject, *session);
                      },
                      quick, std::chrono::seconds(20)});
  }

  // A case over a changed copy of a good file. The suite's own is for loaders of its format alone.
  void add_damage(const std::string& name, bool quick, const Good& good,
                  std::function<void(std::string& bytes)> damage, bool must_fail = false) {
    add(name, quick,
        [good, damage = std::move(damage), must_fail](Subject& subject, Session& session) {
          std::string bytes = good.bytes();
          const fs::path path = subject.scratch() / good.name;
          if (session.probe(path, bytes.substr(0, 4096)) == 0)
            return Outcome::skipped(
                "the loader does not read GGUF; give it good files with --model");
          damage(bytes);
          write_file(path, bytes);
          return session.any(path, must_fail);
        });
  }

 private:
  std::vector<Case>& cases_;
  std::shared_ptr<Session> session_;
};

void add_damages(const Options& options, const Good& good, List& list) {
  const std::string bytes = good.bytes();
  const size_t size = bytes.size();
  // Cut more densely where a file's description is likely to be.
  const size_t cuts = 120;
  for (size_t i = 0; i < cuts; i++) {
    const size_t at =
        i < cuts / 2 ? i * std::min<size_t>(size, 2048) / (cuts / 2) : i * (size - 1) / (cuts - 1);
    list.add_damage("cut/" + good.name + "/at-" + std::to_string(at), i % 6 == 0, good,
                    [at](std::string& text) { text.resize(at); });
  }
  for (size_t at = 0; at < std::min<size_t>(size, 48); at++)
    for (const int change : {0x01, 0x80, 0xff})
      list.add_damage(
          "flip/" + good.name + "/byte-" + std::to_string(at) + "-" + std::to_string(change),
          change == 0xff, good,
          [at, change](std::string& text) { text[at] = static_cast<char>(text[at] ^ change); });
  for (int i = 0; i < 300; i++)
    list.add_damage("random/" + good.name + "/" + std::to_string(i), i < 30, good,
                    [i, seed = options.seed](std::string& text) {
                      std::seed_seq sequence{seed, static_cast<uint64_t>(i)};
                      std::mt19937 random(sequence);
                      const unsigned changes = 1 + random() % 4;
                      for (unsigned c = 0; c < changes; c++) {
                        // Mostly in the description, sometimes anywhere.
                        const size_t reach =
                            random() % 4 == 0 ? text.size() : std::min<size_t>(text.size(), 2048);
                        text[random() % reach] = static_cast<char>(random());
                      }
                    });
  for (int i = 0; i < 20; i++)
    list.add_damage("random-large-numbers/" + good.name + "/" + std::to_string(i), i < 5, good,
                    [i, seed = options.seed](std::string& text) {
                      std::seed_seq sequence{seed, static_cast<uint64_t>(1000 + i)};
                      std::mt19937 random(sequence);
                      const size_t at = random() % std::min<size_t>(text.size() - 8, 2048);
                      for (size_t j = 0; j < 8; j++)
                        text[at + j] = static_cast<char>(j < 7 ? 0xff : 0x7f);
                    });
}

// What the suite wrote itself has to be described as it was written.
Outcome describes_as_written(Subject& subject, Session& session) {
  const TinyGguf file = tiny_gguf();
  const fs::path path = subject.scratch() / kTinyName;
  if (session.probe(path, file.bytes.substr(0, 4096)) == 0)
    return Outcome::skipped("the loader does not read GGUF");
  write_file(path, file.bytes);
  return session.good(path, [&](const halogen_model* model, Findings& findings) {
    const halogen_loader_factory& loader = session.loader();
    findings.expect(loader.tensor_count(model) == file.tensors.size(), "tensors are missing");
    for (uint32_t i = 0; i < file.tensors.size() && !findings.failed(); i++) {
      const halogen_tensor& got = *loader.tensor_at(model, i);
      const TinyTensor& right = file.tensors[i];
      const std::string name = "tensor '" + right.name + "'";
      findings.expect(got.name == right.name, name + " is called '" + got.name + "'");
      findings.expect(got.type == right.type, name + " has another type");
      findings.expect(std::vector<int64_t>(got.dims, got.dims + got.n_dims) == right.dims,
                      name + " has another shape (outermost first)");
      findings.expect(got.offset == right.offset && got.bytes == right.bytes,
                      name + " lies at " + std::to_string(got.offset) + " and not at " +
                          std::to_string(right.offset));
    }
    const auto number = [&](const char* key, uint64_t right) {
      const halogen_metadata* entry = loader.metadata_find(model, key);
      if (!findings.expect(entry && entry->type == HALOGEN_META_U64 && entry->count == 1,
                           std::string(key) + " is missing or no u64"))
        return;
      uint64_t value = 0;
      std::memcpy(&value, entry->data, sizeof value);
      findings.expect(value == right, std::string(key) + " is " + std::to_string(value) +
                                          " and not " + std::to_string(right));
    };
    number("halogen.layers", 2);
    number("halogen.hidden_size", 32);
    number("halogen.context_length", 64);
    const halogen_metadata* architecture = loader.metadata_find(model, "halogen.architecture");
    findings.expect(architecture && architecture->type == HALOGEN_META_STRING &&
                        std::string(architecture->text, architecture->offsets[1]) == "llama",
                    "halogen.architecture is not llama");
    const halogen_metadata* tokens = loader.metadata_find(model, "halogen.tokenizer.tokens");
    findings.expect(tokens && tokens->is_array && tokens->count == 4 &&
                        tokens->offsets[4] - tokens->offsets[3] == 2,
                    "halogen.tokenizer.tokens are not the four of the file");
  });
}

void add_paths(List& list) {
  const auto add = [&](const char* name, const std::function<std::string(const fs::path&)>& make) {
    list.add(std::string("path/") + name, true, [make](Subject& subject, Session& session) {
      const fs::path path = subject.scratch() / "some-model.gguf";
      std::error_code ignored;
      fs::remove_all(path, ignored);
      if (const std::string why = make(path); !why.empty()) return Outcome::skipped(why);
      Outcome outcome = session.any(path, true);
      fs::permissions(path, fs::perms::owner_all, ignored);
      fs::remove_all(path, ignored);
      return outcome;
    });
  };
  add("missing", [](const fs::path&) { return std::string(); });
  add("empty-file", [](const fs::path& path) {
    write_file(path, "");
    return std::string();
  });
  add("empty-folder", [](const fs::path& path) {
    fs::create_directory(path);
    return std::string();
  });
  add("rubbish", [](const fs::path& path) {
    std::string bytes(5000, '\0');
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<char>(i * i >> 3);
    write_file(path, bytes);
    return std::string();
  });
  add("unreadable", [](const fs::path& path) {
    if (::geteuid() == 0) return std::string("root may read everything");
    write_file(path, tiny_gguf().bytes);
    fs::permissions(path, fs::perms::none);
    return std::string();
  });
  // Opening a pipe waits for a writer, who does not come.
  add("pipe", [](const fs::path& path) {
    return ::mkfifo(path.c_str(), 0600) == 0 ? std::string() : std::strerror(errno);
  });
  add("dangling-link", [](const fs::path& path) {
    fs::create_symlink("nowhere", path);
    return std::string();
  });
  add("inside-a-file", [](const fs::path& path) {
    write_file(path.parent_path() / "file", "x");
    fs::create_symlink(path.parent_path() / "file" / "some-model.gguf", path);
    return std::string();
  });
}

Outcome probes_anything(Subject& subject, Session& session) {
  Findings findings;
  std::mt19937 random = subject.random("probe");
  const fs::path path = subject.scratch() / "unknown";
  for (int round = 0; round < 2000; round++) {
    std::string first(random() % 64, '\0');
    for (char& byte : first) byte = static_cast<char>(random());
    findings.expect(session.probe(path, first) <= 100, "probe is surer than 100");
    findings.expect(session.probe(path, first) == session.probe(path, first),
                    "probe says something else the second time");
  }
  findings.expect(session.probe(path, "") <= 100, "probe is surer than 100 of nothing");
  return findings.outcome();
}

Outcome leaves_nothing(Subject& subject, Session& session, const Good& good) {
  const fs::path path = good.path.empty() ? subject.scratch() / kTinyName : good.path;
  if (good.path.empty()) write_file(path, good.bytes());
  if (session.probe(path, good.bytes().substr(0, 4096)) == 0)
    return Outcome::skipped("the loader does not read GGUF");
  // The first rounds fill what allocators and the C library keep.
  constexpr int kRounds = 600, kWarm = 100;
  size_t files = 0;
  uint64_t resident = 0;
  for (int round = 0; round < kRounds; round++) {
    if (Outcome outcome = session.good(path, {}); outcome.verdict != Verdict::pass) return outcome;
    if (round != kWarm) continue;
    files = open_files();
    resident = status_pages(1);
  }
  Findings findings;
  findings.expect(open_files() <= files, "files stay open after close");
  const uint64_t now = status_pages(1);
  const uint64_t leaked = now > resident ? (now - resident) / (kRounds - kWarm) : 0;
  findings.expect(kSanitized || leaked < 2048,
                  "each open and close leaves " + std::to_string(leaked) + " bytes behind");
  return findings.outcome();
}

}  // namespace

void add_loader_cases(const Options& options, std::vector<Case>& cases) {
  List list(cases);
  const Good tiny{kTinyName, {}};
  list.add("describes/tiny.gguf/as-written", true, describes_as_written);
  list.add("describes/tiny.gguf/leaves-nothing", true, [tiny](Subject& subject, Session& session) {
    return leaves_nothing(subject, session, tiny);
  });
  for (const fs::path& path : options.models) {
    list.add("describes/" + path.filename().string() + "/soundly", true,
             [path](Subject&, Session& session) { return session.good(path, {}); });
    list.add("describes/" + path.filename().string() + "/probe", true,
             [path](Subject&, Session& session) {
               const std::string first =
                   fs::is_directory(path) ? "" : read_file(path).substr(0, 4096);
               return session.probe(path, first) > 0
                          ? Outcome{}
                          : Outcome::failed("probe says that the loader does not read it");
             });
  }
  list.add("probe/anything/random", true, probes_anything);
  add_paths(list);
  add_damages(options, tiny, list);
  for (const fs::path& path : options.models) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    const uint64_t size = fs::file_size(path, ignored);
    const std::string name = path.filename().string();
    if (size < kLeastDamagedBytes)
      list.add("cut/" + name + "/none", true, [name, size](Subject&, Session&) {
        return Outcome::failed(name + " has only " + std::to_string(size) +
                               " bytes: it is no good file, of which the suite could cut copies");
      });
    else if (size <= kMostDamagedBytes)
      add_damages(options, {name, path}, list);
  }
}

}  // namespace halogen::check
