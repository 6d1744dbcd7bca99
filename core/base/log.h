// The server's log: one line per event, as text for people or as JSON for collectors.
//
// A thin layer over spdlog that keeps its headers out of the rest of the core. Every line names the
// component it comes from: a room ("http") or a plugin's id ("org.halogen.cpu"). Lines go to
// standard error, which the service manager keeps.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace halogen {

enum class LogLevel { debug, info, warning, error, off };
enum class LogFormat { text, json };

struct LogOptions {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  // Gets every finished line, without its line break, in place of standard error; called under a
  // lock.
  std::function<void(std::string_view line)> sink;
};

// [any] Replaces how the log is written, at the start and after a change of profile. Until the
// first call, lines from info on go to standard error as text.
void log_init(const LogOptions& options);

// [any] The level of a word in a profile: "debug", "info", "warning", "error", "off".
std::optional<LogLevel> log_level_of(std::string_view word);

// [any] Whether a line of this level would be written; ask before putting together a costly one.
bool log_enabled(LogLevel level);

// [any] Writes one line. Control characters in `message` are escaped, so that a message cannot
// forge a second line.
void log_line(LogLevel level, std::string_view component, std::string_view message);

inline void log_debug(std::string_view component, std::string_view message) {
  log_line(LogLevel::debug, component, message);
}
inline void log_info(std::string_view component, std::string_view message) {
  log_line(LogLevel::info, component, message);
}
inline void log_warning(std::string_view component, std::string_view message) {
  log_line(LogLevel::warning, component, message);
}
inline void log_error(std::string_view component, std::string_view message) {
  log_line(LogLevel::error, component, message);
}

}  // namespace halogen
