#include "core/check/subject.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <thread>

#include "core/check/factory_kinds.h"
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
    const auto parse = [&](auto& number) {
      const auto [stop, error] = std::from_chars(text.data(), end, number);
      return stop == end && error == std::errc{};
    };
    int64_t whole = 0;
    if (parse(whole)) return whole;
    double real = 0;
    if (parse(real)) return real;
  }
  return text;
}

// The same on every machine, unlike std::hash (Fowler, Noll and Vo, 64 bits).
uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
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
  const auto whole = visit_factory<Status>(
      kind, factory, [&](const auto* table) { return check_factory(plugin_->id(), table); });
  if (!whole) {
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
  const uint64_t name = fnv1a(case_name);
  std::seed_seq seed{name, name >> 32, options_.seed,
                     options_.seed >> 32};  // takes 32 bits of each
  return std::mt19937(seed);
}

Status check_settings(Subject& subject) {
  std::set<std::string, std::less<>> known;
  for (const std::string& kind : subject.options().plugin.manifest.kinds) {
    const auto* any = subject.factory<void>(kind.c_str());
    if (!any) return {};  // the cases say why
    auto valid = visit_factory<Status>(kind, any, [&](const auto* factory) -> Status {
      const std::span keys(factory->config_keys, factory->config_keys ? factory->n_config_keys : 0);
      for (const halogen_config_key* key : keys)
        if (key && key->name) known.insert(key->name);
      auto view = subject.settings(kind_word(kind), keys);
      return view ? Status() : Status(view.error());
    });
    if (!valid) return valid;
  }
  for (const auto& [name, text] : subject.options().settings)
    if (!known.contains(name))
      return fail(HALOGEN_E_INVALID,
                  "--set " + name + "=" + text + ": no kind of the plugin has this setting");
  return {};
}

}  // namespace halogen::check
