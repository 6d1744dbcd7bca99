// halogen serve: the API is there at once and says "loading" until the model is; then requests are
// served until SIGTERM or SIGINT, which let running requests finish.
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <new>
#include <optional>
#include <thread>

#include <sys/resource.h>

#include "core/api/api.h"
#include "core/base/log.h"
#include "core/base/service_manager.h"
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
constexpr std::chrono::milliseconds kFarewell{1000};  // for the last answers to leave

// As many descriptors as the connections may need, where the system allows them.
void raise_descriptor_limit(uint32_t connections) {
  constexpr rlim_t kOwn = 256;  // files, plugins, the loop
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= connections + kOwn) return;
  limit.rlim_cur = std::min<rlim_t>(connections + kOwn, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < connections + kOwn) {
    log_warning(kComponent, "the limit on open files (ulimit -n) leaves room for " +
                                std::to_string(limit.rlim_cur - std::min(limit.rlim_cur, kOwn)) +
                                " connections, fewer than server.max_connections = " +
                                std::to_string(connections));
  }
}

http::ServerOptions server_options(const ServerProfile& profile) {
  http::ServerOptions options;
  options.host = profile.host;
  options.port = profile.port;
  options.max_connections = profile.max_connections;
  options.header_limit = profile.header_limit.amount();
  options.body_limit = profile.body_limit.amount();
  options.first_byte_timeout = options.header_timeout = profile.header_timeout;
  options.body_timeout = profile.body_timeout;
  options.write_stall_timeout = profile.write_timeout;
  options.idle_timeout = profile.idle_timeout;
  options.log = [](std::string_view message) { log_warning("http", message); };
  return options;
}

// The profile's keys and those of its file.
Result<std::vector<std::string>> all_keys(const ServerProfile& profile) {
  if (profile.api_key_file.empty()) return profile.api_keys;
  auto keys = api::read_api_keys(profile.api_key_file);
  if (keys) keys->insert(keys->end(), profile.api_keys.begin(), profile.api_keys.end());
  return keys;
}

class ServeCommand {
 public:
  ServeCommand(const Profile& profile, Runtime& runtime, std::vector<std::string> keys)
      : profile_(profile),
        runtime_(runtime),
        loop_(runtime.loop()),
        api_({std::move(keys), profile.metrics}, loop_, runtime.metrics()),
        drain_timer_(loop_, [this] { stop_now("the drain timeout has passed"); }),
        alive_timer_(loop_, [this] { tell_alive(); }) {}

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
    http::ServerOptions options = server_options(profile_.server);
    auto cors = http::CorsPolicy::parse(profile_.server.cors_origins);
    if (!cors) {
      return within(
          "server.cors_origins (" + std::string(profile_.origin("server.cors_origins")) + ")",
          cors.error());
    }
    options.cors = std::move(*cors);
    options.gate = [this](const http::Request& request) { return api_.admit(request); };
    raise_descriptor_limit(profile_.server.max_connections);
    auto server = http::Server::listen(
        loop_, options,
        [this](const std::shared_ptr<http::Exchange>& exchange) { api_.handle(exchange); });
    if (!server) return server.error();
    server_ = std::move(*server);
    api_.set_http_stats([this] { return server_->stats(); });
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

  // [worker] Leaves what came of it in loaded_, which belongs to the loop thread once on_loaded is
  // posted.
  void load() {
    std::string last_stage;
    int last_tenth = -1;
    const auto progress = [&](const char* stage, double fraction) {
      const int tenth = static_cast<int>(fraction * 10);
      if (tenth != last_tenth || stage != last_stage) {
        log_info("loader", std::string(stage) + ", " + std::to_string(tenth * 10) + " %");
        loop_.post([this, stage = std::string(stage), fraction] { on_progress(stage, fraction); });
      }
      last_tenth = tenth;
      last_stage = stage;
      return !stopping_.load();
    };
    try {
      loaded_.emplace(ServedModel::load(profile_, runtime_.plugins(), progress));
    } catch (const std::bad_alloc&) {
      loaded_.emplace(
          fail(HALOGEN_E_NO_MEMORY, profile_.model.path + ": out of memory while loading"));
    } catch (const std::exception& error) {
      loaded_.emplace(fail(HALOGEN_E_INTERNAL, profile_.model.path + ": " + error.what()));
    }
    loop_.post([this] { on_loaded(); });
  }

  void on_progress(const std::string& stage, double fraction) {
    if (phase_ != api::ServerState::Phase::loading) return;
    api_.set_state({phase_, stage, fraction});
    manager_.status("loading: " + stage + ", " + std::to_string(static_cast<int>(fraction * 100)) +
                    " %");
  }

  void on_loaded() {
    loader_.join();
    if (stopping_) return loop_.stop();
    Status status = *loaded_ ? start_engine(std::move(**loaded_)) : Status(loaded_->error());
    if (!status) {
      log_error(kComponent, status.error().message);
      exit_status_ = kFailure;
      manager_.status(status.error().message);
      set_phase(api::ServerState::Phase::failed);
      return loop_.stop();
    }
    set_phase(api::ServerState::Phase::ready);
    const std::string what = "'" + model_->names().front() + "', " + model_->describe();
    log_info(kComponent, "ready: " + what);
    manager_.ready();
    manager_.status("serving " + what);
    if (const auto interval = manager_.alive_interval()) alive_timer_.start(*interval, *interval);
  }

  // A server that gets nothing done says nothing, and is started anew by its manager.
  void tell_alive() {
    if (engine_ && api::engine_trouble(engine_->stats()).empty()) manager_.alive();
  }

  Status start_engine(std::unique_ptr<ServedModel> model) {
    model_ = std::move(model);
    auto engine = Engine::start(loop_, model_->parts(), model_->limits());
    if (!engine) return engine.error();
    engine_ = std::move(*engine);

    api::ModelAccess access;
    access.engine = engine_.get();
    access.tokenizer = &model_->tokenizer();
    access.token_search = &model_->token_search();
    access.chat_template = model_->chat_template();
    access.chat_template_error = model_->chat_template_error();
    access.names = model_->names();
    access.created = static_cast<int64_t>(std::time(nullptr));
    access.sampling = model_->sampling();
    api_.set_model(std::move(access));
    return {};
  }

  void on_signal() {
    if (stopping_.exchange(true)) return stop_now("a second signal");
    if (phase_ == api::ServerState::Phase::loading) return;  // the loader notices
    log_info(kComponent, "draining: running requests finish, new ones are refused");
    set_phase(api::ServerState::Phase::draining);
    manager_.stopping();
    drain_timer_.start(profile_.server.drain_timeout);
    server_->drain([this] { loop_.stop(); });
  }

  void stop_now(const std::string& why) {
    if (engine_) log_warning(kComponent, "stopping at once: " + why);
    loop_.stop();
  }

  void set_phase(api::ServerState::Phase phase) {
    phase_ = phase;
    api_.set_state({phase, "", 0});
  }

  // Everything in reverse. Requests that are left are told that the server is shutting down, and
  // get a moment to read it.
  int clean_up() {
    stopping_ = true;
    alive_timer_.stop();
    if (loader_.joinable()) loader_.join();
    const bool had_requests = engine_ != nullptr;
    api_.finish_reading();
    engine_.reset();
    api_.set_model(std::nullopt);
    if (had_requests) {
      drain_timer_.start(kFarewell);
      server_->drain([this] { loop_.stop(); });
      loop_.run();
    }
    server_.reset();
    loaded_.reset();
    model_.reset();
    log_info(kComponent, "stopped");
    return exit_status_;
  }

  const Profile& profile_;
  Runtime& runtime_;
  Loop& loop_;
  api::Api api_;
  Timer drain_timer_;
  const ServiceManager manager_ = ServiceManager::from_environment();
  Timer alive_timer_;
  std::vector<SignalWatcher> signals_;
  std::unique_ptr<http::Server> server_;
  std::optional<Result<std::unique_ptr<ServedModel>>> loaded_;
  std::unique_ptr<ServedModel> model_;
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
  auto keys = all_keys(profile->server);
  if (!keys) return report(within("server.api_key_file", keys.error()));
  return ServeCommand(*profile, **runtime, std::move(*keys)).run();
}

}  // namespace halogen::cli
