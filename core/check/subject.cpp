#include "core/check/subject.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include "core/loop/loop.h"
#include "core/serve/factory_checks.h"

namespace halogen::check {
namespace {

// A value of the command line, which has no types of its own.
std::variant<bool, int64_t, double, std::string> typed(const std::string& text,
                                                       halogen_config_type type) {
  const char* end = text.data() + text.size();
  if (type == HALOGEN_CONFIG_BOOL && (text == "true" || text == "false")) return text == "true";
  if (type == HALOGEN_CONFIG_INT || type == HALOGEN_CONFIG_SIZE || type == HALOGEN_CONFIG_FLOAT) {
    int64_t whole = 0;
    if (std::from_chars(text.data(), end, whole).ptr == end) return whole;
    double real = 0;
    if (std::from_chars(text.data(), end, real).ptr == end) return real;
  }
  return text;
}

Status check_table(const std::string& id, std::string_view kind, const void* factory) {
  if (kind == HALOGEN_BACKEND_KIND)
    return check_factory(id, static_cast<const halogen_backend_factory*>(factory));
  if (kind == HALOGEN_LOADER_KIND)
    return check_factory(id, static_cast<const halogen_loader_factory*>(factory));
  if (kind == HALOGEN_SAMPLER_KIND)
    return check_factory(id, static_cast<const halogen_sampler_factory*>(factory));
  if (kind == HALOGEN_SCHEDULER_KIND)
    return check_factory(id, static_cast<const halogen_scheduler_factory*>(factory));
  return {};
}

}  // namespace

// A loop on a thread of its own, for plugins that post.
class Subject::LoopThread final : public LoopPoster {
 public:
  explicit LoopThread(std::unique_ptr<Loop> loop)
      : loop_(std::move(loop)), thread_([this] { loop_->run(); }) {}
  ~LoopThread() override {
    loop_->stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  void post(halogen_run run, void* argument) override {
    loop_->post([run, argument] { run(argument); });
  }
  bool on_loop_thread() const override { return loop_->on_loop_thread(); }

 private:
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

Subject::Subject(const Options& options, std::filesystem::path scratch)
    : options_(options), scratch_(std::move(scratch)) {}
Subject::~Subject() = default;

LoopPoster& Subject::loop() {
  if (!loop_) {
    auto loop = Loop::create();
    if (!loop) throw std::runtime_error(loop.error().message);
    loop_ = std::make_unique<LoopThread>(std::move(*loop));
  }
  return *loop_;
}

PluginGeneration* Subject::loaded() {
  if (!plugin_ && error_.empty()) {
    auto loaded = PluginGeneration::load(
        options_.plugin, "halogen check", 1,
        {metrics_, loop(), std::chrono::seconds(5), std::chrono::seconds(1)});
    if (loaded)
      plugin_ = std::move(*loaded);
    else
      error_ = loaded.error().message;
  }
  return plugin_.get();
}

std::optional<unsigned> Subject::abi_minor() {
  const PluginGeneration* plugin = loaded();
  return plugin ? std::optional<unsigned>(plugin->abi_minor()) : std::nullopt;
}

const void* Subject::factory_of(const char* kind) {
  if (!loaded()) return nullptr;
  const void* factory = plugin_->factory(kind);
  if (!factory) {
    error_ = std::string("the plugin has no factory of the kind ") + kind;
    return nullptr;
  }
  if (auto whole = check_table(plugin_->id(), kind, factory); !whole) {
    error_ = whole.error().message;
    return nullptr;
  }
  return factory;
}

Result<ConfigView> Subject::settings(std::string_view kind,
                                     std::span<const halogen_config_key* const> keys) const {
  std::vector<ConfigEntry> entries;
  for (const auto& [name, text] : options_.settings) {
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const halogen_config_key* known) {
      return known && known->name && known->name == name;
    });
    if (key == keys.end() && options_.plugin.manifest.kinds.size() > 1) continue;
    entries.push_back({name, key == keys.end() ? text : typed(text, (*key)->type), "--set"});
  }
  return ConfigView::make(kind, entries, keys);
}

std::mt19937 Subject::random(std::string_view case_name) const {
  std::seed_seq seed{static_cast<uint64_t>(std::hash<std::string_view>{}(case_name)),
                     options_.seed};
  return std::mt19937(seed);
}

Status check_settings(Subject& subject) {
  const auto check_kind = [&](const char* kind, const auto* factory) -> Status {
    if (!factory) return {};
    auto view = subject.settings(kind_word(kind), {factory->config_keys, factory->n_config_keys});
    return view ? Status() : Status(view.error());
  };
  for (const std::string& kind : subject.options().plugin.manifest.kinds) {
    Status valid;
    if (kind == HALOGEN_BACKEND_KIND)
      valid = check_kind(kind.c_str(), subject.factory<halogen_backend_factory>(kind.c_str()));
    if (kind == HALOGEN_LOADER_KIND)
      valid = check_kind(kind.c_str(), subject.factory<halogen_loader_factory>(kind.c_str()));
    if (kind == HALOGEN_SAMPLER_KIND)
      valid = check_kind(kind.c_str(), subject.factory<halogen_sampler_factory>(kind.c_str()));
    if (kind == HALOGEN_SCHEDULER_KIND)
      valid = check_kind(kind.c_str(), subject.factory<halogen_scheduler_factory>(kind.c_str()));
    if (!valid) return valid;
  }
  return {};
}

}  // namespace halogen::check
