// halogen serve: the API is there at once and says "loading" until the model is; then requests are
// served until SIGTERM or SIGINT, which let running requests finish.
#include <atomic>
#include <csignal>
#include <ctime>
#include <optional>
#include <thread>

#include "core/api/api.h"
#include "core/base/log.h"
#include "core/cli/commands.h"
#include "core/cli/runtime.h"
#include "core/config/load.h"
#include "core/http/server.h"
#include "core/loop/signal_watcher.h"
#include "core/loop/timer.h"
#include "core/serve/served_model.h"

namespace halogen::cli {
namespace {

constexpr std::string_view kComponent = "server";

class ServeCommand {
 public:
  ServeCommand(const Profile& profile, Runtime& runtime)
      : profile_(profile),
        runtime_(runtime),
        loop_(runtime.loop()),
        api_({profile.server.api_keys, profile.metrics}, runtime.metrics()),
        drain_timer_(loop_, [this] { stop_now("the drain timeout has passed"); }) {}

  // [loop] Serves until it is told to stop; the exit status.
  int run() {
    if (auto status = listen(); !status) return report(status.error());
    if (auto status = watch_signals(); !status) return report(status.error());
    loader_ = std::thread([this] { load(); });
    loop_.run();
    return clean_up();
  }

 private:
  Status listen() {
    http::ServerOptions options;
    options.host = profile_.server.host;
    options.port = profile_.server.port;
    options.max_connections = profile_.server.max_connections;
    options.body_limit = profile_.server.body_limit.amount();
    options.log = [](std::string_view message) { log_warning("http", message); };
    auto server = http::Server::listen(
        loop_, options,
        [this](const std::shared_ptr<http::Exchange>& exchange) { api_.handle(exchange); });
    if (!server) return server.error();
    server_ = std::move(*server);
    const bool v6 = options.host.find(':') != std::string::npos;
    log_info(kComponent, "listening on http://" + (v6 ? "[" + options.host + "]" : options.host) +
                             ":" + std::to_string(server_->port()));
    return {};
  }

  Status watch_signals() {
    for (const int number : {SIGTERM, SIGINT}) {
      auto watcher = SignalWatcher::watch(loop_, number, [this] { on_signal(); });
      if (!watcher) return watcher.error();
      signals_.push_back(std::move(*watcher));
    }
    return {};
  }

  // [worker]
  void load() {
    int last_percent = -1;
    const auto progress = [&](const char* stage, double fraction) {
      const int percent = static_cast<int>(fraction * 100);
      if (percent / 10 != last_percent / 10 || last_percent < 0) {
        log_info("loader", std::string(stage) + ", " + std::to_string(percent) + " %");
        loop_.post([this, stage = std::string(stage), fraction] { on_progress(stage, fraction); });
      }
      last_percent = percent;
      return !stopping_.load();
    };
    auto model = std::make_shared<Result<std::unique_ptr<ServedModel>>>(
        ServedModel::load(profile_, runtime_.plugins(), progress));
    loop_.post([this, model] { on_loaded(std::move(*model)); });
  }

  void on_progress(const std::string& stage, double fraction) {
    if (phase_ != api::ServerState::Phase::loading) return;
    api_.set_state({phase_, stage, fraction});
  }

  void on_loaded(Result<std::unique_ptr<ServedModel>> model) {
    if (stopping_) {
      if (model) model_ = std::move(*model);
      return loop_.stop();
    }
    Status status = model ? start_engine(std::move(*model)) : Status(model.error());
    if (!status) {
      report(status.error());
      exit_status_ = kFailure;
      set_phase(api::ServerState::Phase::failed);
      return loop_.stop();
    }
    set_phase(api::ServerState::Phase::ready);
    log_info(kComponent, "ready: '" + model_->names().front() + "', " + model_->describe());
  }

  Status start_engine(std::unique_ptr<ServedModel> model) {
    model_ = std::move(model);
    if (!model_->chat_template().empty()) {
      auto parsed = ChatTemplate::parse(model_->chat_template());
      if (!parsed) return within("the model's chat template", parsed.error());
      chat_template_.emplace(std::move(*parsed));
    }
    auto engine = Engine::start(loop_, model_->parts(), model_->limits());
    if (!engine) return engine.error();
    engine_ = std::move(*engine);

    api::ModelAccess access;
    access.engine = engine_.get();
    access.tokenizer = &model_->tokenizer();
    access.chat_template = chat_template_ ? &*chat_template_ : nullptr;
    access.names = model_->names();
    access.created = static_cast<int64_t>(std::time(nullptr));
    access.sampling = default_sampling(profile_.sampling);
    api_.set_model(std::move(access));
    return {};
  }

  void on_signal() {
    if (stopping_.exchange(true)) return stop_now("a second signal");
    if (phase_ == api::ServerState::Phase::loading) return;  // the loader notices
    log_info(kComponent, "draining: running requests finish, new ones are refused");
    set_phase(api::ServerState::Phase::draining);
    drain_timer_.start(profile_.server.drain_timeout);
    server_->drain([this] { loop_.stop(); });
  }

  void stop_now(const std::string& why) {
    log_warning(kComponent, "stopping at once: " + why);
    loop_.stop();
  }

  void set_phase(api::ServerState::Phase phase) {
    phase_ = phase;
    api_.set_state({phase, "", 0});
  }

  // Everything in reverse; requests that are left are answered that the server is shutting down.
  int clean_up() {
    stopping_ = true;
    if (loader_.joinable()) loader_.join();
    engine_.reset();
    api_.set_model(std::nullopt);
    server_.reset();
    model_.reset();
    log_info(kComponent, "stopped");
    return exit_status_;
  }

  const Profile& profile_;
  Runtime& runtime_;
  Loop& loop_;
  api::Api api_;
  Timer drain_timer_;
  std::vector<SignalWatcher> signals_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<ServedModel> model_;
  std::optional<ChatTemplate> chat_template_;
  std::unique_ptr<Engine> engine_;
  std::thread loader_;
  std::atomic<bool> stopping_{false};
  api::ServerState::Phase phase_ = api::ServerState::Phase::loading;
  int exit_status_ = kSuccess;
};

}  // namespace

int serve(const FlagValues& flags) {
  auto profile = load_profile(flags, process_environment());
  if (!profile) return report(profile.error());
  if (auto named = require_model(*profile); !named) return report(named.error());
  start_log(profile->log);
  for (const std::string& notice : profile_notices(*profile)) log_warning("config", notice);
  auto runtime = Runtime::create(*profile);
  if (!runtime) return report(runtime.error());
  return ServeCommand(*profile, **runtime).run();
}

}  // namespace halogen::cli
