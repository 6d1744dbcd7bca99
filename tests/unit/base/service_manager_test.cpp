// The messages of sd_notify(3) as a manager receives them.
#include "core/base/service_manager.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace halogen {
namespace {

// A socket that receives datagrams at `address`: a path, or "@" and an abstract name.
class Receiver {
 public:
  explicit Receiver(const std::string& address) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, address.data(), address.size());
    if (address[0] == '@') name.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&name), length), 0);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver() { ::close(socket_); }

  // The next message; empty where there is none.
  std::string next() const {
    char text[256];
    const ssize_t size = ::recv(socket_, text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<size_t>(size));
  }

 private:
  int socket_;
};

std::string unique_name() {
  return "halogen-service-test-" + std::to_string(::getpid());
}

// Sets a variable of the environment, or removes it, and puts it back in the end.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(ServiceManager, SaysEachThingInOneDatagram) {
  const std::string path = testing::TempDir() + unique_name();
  ::unlink(path.c_str());
  const Receiver manager(path);
  const ServiceManager service(path, std::nullopt);
  service.status("reading weights, 40 %");
  service.ready();
  service.alive();
  service.stopping();
  EXPECT_EQ(manager.next(), "STATUS=reading weights, 40 %");
  EXPECT_EQ(manager.next(), "READY=1");
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  EXPECT_EQ(manager.next(), "STOPPING=1");
  EXPECT_EQ(manager.next(), "");
  ::unlink(path.c_str());
}

TEST(ServiceManager, ReachesAnAbstractAddress) {
  const std::string address = "@" + unique_name();
  const Receiver manager(address);
  ServiceManager(address, std::nullopt).ready();
  EXPECT_EQ(manager.next(), "READY=1");
}

// What follows a line feed would be another assignment.
TEST(ServiceManager, AStatusIsOneLine) {
  const std::string address = "@" + unique_name();
  const Receiver manager(address);
  ServiceManager(address, std::nullopt).status("model.gguf\nMAINPID=1");
  EXPECT_EQ(manager.next(), "STATUS=model.gguf");
}

TEST(ServiceManager, WithoutAManagerNothingIsSent) {
  const ServiceManager nobody("", std::chrono::microseconds(1000));
  nobody.ready();
  EXPECT_FALSE(nobody.alive_interval());
  EXPECT_FALSE(ServiceManager("relative/path", std::chrono::microseconds(1)).alive_interval());
  EXPECT_FALSE(
      ServiceManager("/" + std::string(200, 'x'), std::chrono::microseconds(1)).alive_interval());
}

TEST(ServiceManager, IsWhatTheEnvironmentNames) {
  const std::string address = "@" + unique_name();
  const Receiver manager(address);
  const Variable socket("NOTIFY_SOCKET", address);
  const Variable interval("WATCHDOG_USEC", "30000000");
  const Variable process("WATCHDOG_PID", std::to_string(::getpid()));
  const ServiceManager service = ServiceManager::from_environment();
  service.ready();
  EXPECT_EQ(manager.next(), "READY=1");
  EXPECT_EQ(service.alive_interval(), std::chrono::milliseconds(15000));
}

TEST(ServiceManager, AWatchdogForAnotherProcessIsNotFed) {
  const Variable socket("NOTIFY_SOCKET", "@" + unique_name());
  const Variable interval("WATCHDOG_USEC", "30000000");
  const Variable process("WATCHDOG_PID", "1");
  EXPECT_FALSE(ServiceManager::from_environment().alive_interval());
}

}  // namespace
}  // namespace halogen
