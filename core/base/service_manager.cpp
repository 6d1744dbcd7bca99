#include "core/base/service_manager.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace halogen {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<long long> number(const std::string& text) {
  long long value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  return value;
}

// The watchdog may be meant for another process: the one that started this one.
std::optional<std::chrono::microseconds> watchdog_of_environment() {
  const auto interval = number(variable("WATCHDOG_USEC"));
  const auto process = number(variable("WATCHDOG_PID"));
  if (!interval || *interval <= 0 || (process && *process != ::getpid())) return std::nullopt;
  return std::chrono::microseconds(*interval);
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  return {variable("NOTIFY_SOCKET"), watchdog_of_environment()};
}

ServiceManager::ServiceManager(std::string address,
                               std::optional<std::chrono::microseconds> watchdog)
    : address_(std::move(address)), watchdog_(watchdog) {
  const bool known = address_.starts_with('/') || address_.starts_with('@');
  if (!known || address_.size() >= sizeof sockaddr_un{}.sun_path) {
    watchdog_.reset();
    return;
  }
  if (address_.front() == '@') address_.front() = '\0';
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

ServiceManager::ServiceManager(ServiceManager&& other) noexcept
    : address_(std::move(other.address_)),
      watchdog_(other.watchdog_),
      socket_(std::exchange(other.socket_, -1)) {}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceManager::ready() const {
  send("READY=1");
}

void ServiceManager::stopping() const {
  send("STOPPING=1");
}

// A line feed begins another assignment.
void ServiceManager::status(std::string_view text) const {
  send("STATUS=" + std::string(text.substr(0, text.find('\n'))));
}

void ServiceManager::alive() const {
  send("WATCHDOG=1");
}

std::optional<std::chrono::milliseconds> ServiceManager::alive_interval() const {
  if (!watchdog_) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*watchdog_ / 2);
}

// What cannot be delivered is lost: nobody but the manager could do anything about it.
void ServiceManager::send(std::string_view message) const {
  if (socket_ < 0) return;
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  std::memcpy(target.sun_path, address_.data(), address_.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  [[maybe_unused]] const ssize_t sent =
      ::sendto(socket_, message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&target), length);
}

}  // namespace halogen
