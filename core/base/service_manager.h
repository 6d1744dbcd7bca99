// What systemd is told about the server: that it is ready, what it is doing, that it still gets
// work done. The protocol of sd_notify(3), one datagram a message, without its library.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace halogen {

class ServiceManager {
 public:
  // [any] The manager that started this process, as NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID
  // of the environment name it. Without one every message goes nowhere.
  static ServiceManager from_environment();

  // A manager that listens at `address`: a path, or "@" and a name in Linux's abstract namespace;
  // anything else is nobody.
  ServiceManager(std::string address, std::optional<std::chrono::microseconds> watchdog);
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&&) = delete;
  ~ServiceManager();

  // [loop] The server takes requests.
  void ready() const;
  // [loop] It takes no more.
  void stopping() const;
  // [loop] One line for people.
  void status(std::string_view text) const;
  // [loop] Work gets done.
  void alive() const;

  // How often alive() has to be called: half of the time after which the manager gives the server
  // up. Empty where it does not watch.
  std::optional<std::chrono::milliseconds> alive_interval() const;

 private:
  void send(std::string_view message) const;

  std::string address_;
  std::optional<std::chrono::microseconds> watchdog_;
  int socket_ = -1;
};

}  // namespace halogen
