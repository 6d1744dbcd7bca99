// A forked copy of this process that runs code which may crash, hang or exit, and says line by line
// how far it is.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "core/base/result.h"

namespace halogen::check {

class ChildProcess {
 public:
  using Tell = std::function<void(std::string_view line)>;

  // Runs body(tell) in the child, which ends without running destructors or exit handlers. Its
  // standard output goes where standard error goes, it leaves no core file, and it dies with its
  // parent. This process must have one thread only.
  static Result<ChildProcess> start(const std::function<void(const Tell& tell)>& body);

  ~ChildProcess();  // kills it where it still runs
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  enum class Event { line, ended, late };
  struct News {
    Event event;
    std::string line;  // without its line break
  };
  // The next line, or that the child has ended, or that nothing came for `patience`.
  News wait(std::chrono::milliseconds patience);

  // Once, after it has ended or to end it (by SIGKILL): "crashed with SIGSEGV", "ended with exit
  // status 3"; empty for a normal end.
  std::string finish();

 private:
  ChildProcess(pid_t process, int pipe) : process_(process), pipe_(pipe) {}

  pid_t process_;  // -1: waited for
  int pipe_;
  bool ended_ = false;  // its end of the pipe is closed
  std::string buffer_;
};

}  // namespace halogen::check
