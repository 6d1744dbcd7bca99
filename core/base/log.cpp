#include "core/base/log.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace halogen {
namespace {

// Hands finished lines to a function; what tests and embedders listen with.
class FunctionSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    if (text.ends_with('\n')) text.remove_suffix(1);
    write_(text);
  }
  void flush_() override {}

 private:
  std::function<void(std::string_view)> write_;
};

struct Log {
  std::shared_ptr<spdlog::logger> logger;
  LogFormat format = LogFormat::text;
};

std::shared_ptr<const Log> make_log(const LogOptions& options) {
  spdlog::sink_ptr sink;
  if (options.sink) {
    sink = std::make_shared<FunctionSink>(options.sink);
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  auto logger = std::make_shared<spdlog::logger>("halogen", std::move(sink));
  logger->set_level(spdlog::level::trace);
  logger->set_pattern(options.format == LogFormat::json
                          ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})"
                          : "%Y-%m-%d %H:%M:%S.%e %-7l %v");
  logger->flush_on(spdlog::level::trace);
  return std::make_shared<const Log>(Log{std::move(logger), options.format});
}

std::atomic<LogLevel> least_level{LogLevel::info};

// Never destroyed: threads may log until the process is gone.
struct Current {
  std::mutex mutex;
  std::shared_ptr<const Log> log = make_log({});
};
Current& current() {
  static Current* instance = new Current;
  return *instance;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

// The escapes of a JSON string, which also serve for text: what stays is one printable line.
void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      out += code;
    } else if (quotes && (c == '"' || c == '\\')) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
}

}  // namespace

void log_init(const LogOptions& options) {
  auto log = make_log(options);
  const std::scoped_lock lock(current().mutex);
  current().log = std::move(log);
  least_level = options.level;
}

std::optional<LogLevel> log_level_of(std::string_view word) {
  if (word == "debug") return LogLevel::debug;
  if (word == "info") return LogLevel::info;
  if (word == "warning") return LogLevel::warning;
  if (word == "error") return LogLevel::error;
  if (word == "off") return LogLevel::off;
  return std::nullopt;
}

bool log_enabled(LogLevel level) {
  return level != LogLevel::off && level >= least_level.load(std::memory_order_relaxed);
}

void log_line(LogLevel level, std::string_view component, std::string_view message) {
  if (!log_enabled(level)) return;
  std::shared_ptr<const Log> log;
  {
    const std::scoped_lock lock(current().mutex);
    log = current().log;
  }
  std::string line;
  if (log->format == LogFormat::json) {
    line += R"("component":")";
    append_escaped(line, component, true);
    line += R"(","message":")";
    append_escaped(line, message, true);
    line += '"';
  } else {
    append_escaped(line, component, false);
    line += ": ";
    append_escaped(line, message, false);
  }
  log->logger->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace halogen
