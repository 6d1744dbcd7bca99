#include "core/check/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace halogen::check {
namespace {

constexpr int kNormalEnd = 0;
constexpr int kUncaught = 125;  // an exception that a plugin let through

void write_all(int pipe, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(pipe, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(kUncaught);  // the parent is gone
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

[[noreturn]] void live(int pipe, const std::function<void(const ChildProcess::Tell&)>& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  int status = kNormalEnd;
  try {
    body([pipe](std::string_view line) { write_all(pipe, std::string(line) + '\n'); });
  } catch (const std::exception&) {
    status = kUncaught;
  }
  ::_exit(status);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::function<void(const Tell& tell)>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(HALOGEN_E_IO, std::string("no pipe to a child process: ") + std::strerror(errno));
  const pid_t process = ::fork();
  if (process < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return fail(HALOGEN_E_IO, std::string("no child process: ") + std::strerror(error));
  }
  if (process == 0) {
    ::close(ends[0]);
    live(ends[1], body);
  }
  ::close(ends[1]);
  return ChildProcess(process, ends[0]);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      pipe_(std::exchange(other.pipe_, -1)),
      ended_(other.ended_),
      buffer_(std::move(other.buffer_)) {}

ChildProcess::~ChildProcess() {
  if (process_ > 0) finish();
  if (pipe_ >= 0) ::close(pipe_);
}

ChildProcess::News ChildProcess::wait(std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  while (true) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return {Event::line, std::move(line)};
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd watched{pipe_, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {Event::late, {}};
    char bytes[4096];
    const ssize_t got = ::read(pipe_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      ended_ = true;
      return {Event::ended, {}};
    }
    buffer_.append(bytes, static_cast<size_t>(got));
  }
}

std::string ChildProcess::finish() {
  int status = 0;
  // One that has closed its pipe is about to be gone, and keeps its own status.
  for (int i = 0; ended_ && i < 200 && process_ > 0; i++) {
    if (::waitpid(process_, &status, WNOHANG) == process_) process_ = -1;
    if (process_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
  }
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return std::string("crashed with SIG") + (name ? name : std::to_string(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) == kUncaught) return "let an exception through";
  return WEXITSTATUS(status) == 0
             ? ""
             : "ended the process with exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace halogen::check
