#include "core/host/services.h"

#include <string_view>

#include "core/base/log.h"

namespace halogen {
namespace {

LogLevel level_of(halogen_log_level level) {
  switch (level) {
    case HALOGEN_LOG_DEBUG:
      return LogLevel::debug;
    case HALOGEN_LOG_INFO:
      return LogLevel::info;
    case HALOGEN_LOG_WARNING:
      return LogLevel::warning;
    case HALOGEN_LOG_ERROR:
      break;
  }
  return LogLevel::error;
}

MetricKind kind_of(halogen_metric_kind kind) {
  switch (kind) {
    case HALOGEN_METRIC_COUNTER:
      return MetricKind::counter;
    case HALOGEN_METRIC_GAUGE:
      return MetricKind::gauge;
    case HALOGEN_METRIC_HISTOGRAM:
      break;
  }
  return MetricKind::histogram;
}

#ifndef NDEBUG
// Complains about a [loop] function that holds up everybody's input and output; far above the
// millisecond that it has, since a busy machine may stop it as well.
class LoopTime {
 public:
  explicit LoopTime(const std::string& plugin) : plugin_(plugin) {}
  ~LoopTime() {
    if (std::chrono::steady_clock::now() - start_ > std::chrono::milliseconds(100))
      log_warning(plugin_, "a posted function held up the loop for more than 0.1 s [loop]");
  }
  LoopTime(const LoopTime&) = delete;
  LoopTime& operator=(const LoopTime&) = delete;

 private:
  const std::string& plugin_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};
#endif

// halogen_metric is the SDK's opaque name of a Metric.
Metric* metric_of(halogen_metric* metric) {
  return reinterpret_cast<Metric*>(metric);
}

}  // namespace

struct PluginServices::Posted {
  PluginServices* services;
  halogen_run run;
  void* argument;

  static void call(void* self) {
    const std::unique_ptr<Posted> posted(static_cast<Posted*>(self));
    PluginServices& services = *posted->services;
    try {
#ifndef NDEBUG
      const LoopTime time(services.id_);
#endif
      posted->run(posted->argument);
    } catch (...) {
      log_error(services.id_, "a posted function ended with an exception");
    }
    // Notifies under the lock: once it is released, the services may be gone.
    const std::scoped_lock lock(services.mutex_);
    if (--services.posted_ == 0) services.drained_.notify_all();
  }
};

struct PluginServices::Calls {
  static PluginServices& of(const halogen_host* host) {
    return *static_cast<PluginServices*>(host->context);
  }

  static void expect_worker(PluginServices& services, const char* call) {
#ifndef NDEBUG
    if (services.loop_.on_loop_thread())
      log_error(services.id_, std::string(call) +
                                  " was called on the loop thread, but may take seconds [worker]");
#else
    (void)services;
    (void)call;
#endif
  }

  static bool log_enabled(const halogen_host*, halogen_log_level level) {
    return halogen::log_enabled(level_of(level));
  }

  static void log(const halogen_host* host, halogen_log_level level, halogen_string message) {
    if (message.data || message.size == 0)
      log_line(level_of(level), of(host).id_, std::string_view(message.data, message.size));
  }

  static halogen_metric* metric_create(const halogen_host* host, halogen_metric_kind kind,
                                       const char* name, const char* help, const char* labels) {
    PluginServices& services = of(host);
    expect_worker(services, "metric_create");
    if (!services.metrics_) return nullptr;  // dropped
    auto parsed = parse_metric_labels(labels ? labels : "");
    auto metric = parsed ? services.metrics_->make(kind_of(kind),
                                                   std::string("halogen_") + (name ? name : ""),
                                                   help ? help : "", std::move(*parsed))
                         : Result<Metric*>(parsed.error());
    if (metric) return reinterpret_cast<halogen_metric*>(*metric);
    log_error(services.id_, metric.error().message);
    return nullptr;
  }

  static void metric_add(halogen_metric* metric, double amount) {
    if (metric) metric_of(metric)->add(amount);
  }
  static void metric_set(halogen_metric* metric, double value) {
    if (metric) metric_of(metric)->set(value);
  }
  static void metric_observe(halogen_metric* metric, double value) {
    if (metric) metric_of(metric)->observe(value);
  }

  static halogen_status thread_start(const halogen_host* host, const char* name, halogen_run run,
                                     void* argument, halogen_thread** thread,
                                     halogen_error* error) {
    PluginServices& services = of(host);
    expect_worker(services, "thread_start");
    if (services.closed())
      return halogen_fail(error, HALOGEN_E_CANCELLED,
                          "no thread can be started: the plugin is being unloaded");
    if (!thread)
      return halogen_fail(error, HALOGEN_E_INVALID, "thread_start needs a handle to fill");
    auto started = services.threads_.start(name ? name : "", run, argument);
    if (!started)
      return halogen_fail(error, started.error().status, started.error().message.c_str());
    *thread = *started;
    return HALOGEN_OK;
  }

  static void thread_join(const halogen_host* host, halogen_thread* thread) {
    PluginServices& services = of(host);
    expect_worker(services, "thread_join");
    if (!services.threads_.join(thread))
      log_error(services.id_, "thread_join got a handle that is not, or no longer, a thread");
  }

  static halogen_status post(const halogen_host* host, halogen_run run, void* argument) {
    PluginServices& services = of(host);
    if (!run) return HALOGEN_E_INVALID;
    {
      const std::scoped_lock lock(services.mutex_);
      if (services.closed_) return HALOGEN_E_CANCELLED;
      ++services.posted_;
    }
    services.loop_.post(&Posted::call, new Posted{&services, run, argument});
    return HALOGEN_OK;
  }

  static const void* extension(const halogen_host*, const char*) { return nullptr; }
};

PluginServices::PluginServices(std::string id, MetricRegistry& metrics, LoopPoster& loop)
    : id_(std::move(id)), loop_(loop), metrics_(std::make_unique<MetricGroup>(metrics)) {
  table_.struct_size = sizeof table_;
  table_.abi_major = HALOGEN_ABI_MAJOR;
  table_.abi_minor = HALOGEN_ABI_MINOR;
  table_.context = this;
  table_.log_enabled = &Calls::log_enabled;
  table_.log = &Calls::log;
  table_.metric_create = &Calls::metric_create;
  table_.metric_add = &Calls::metric_add;
  table_.metric_set = &Calls::metric_set;
  table_.metric_observe = &Calls::metric_observe;
  table_.thread_start = &Calls::thread_start;
  table_.thread_join = &Calls::thread_join;
  table_.post = &Calls::post;
  table_.extension = &Calls::extension;
}

void PluginServices::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
}

bool PluginServices::closed() {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

size_t PluginServices::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  drained_.wait_for(lock, patience, [this] { return posted_ == 0; });
  return posted_;
}

}  // namespace halogen
