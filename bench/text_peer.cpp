#include "bench/text_peer.h"

#include <cinttypes>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

TextPeer::TextPeer(const std::string& command, const std::string& vocabulary) {
  int to[2];
  int from[2];
  if (pipe(to) != 0 || pipe(from) != 0) return;
  std::signal(SIGPIPE, SIG_IGN);
  process_ = fork();
  if (process_ == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
    const std::string line = "exec " + command + " \"$0\"";
    execl("/bin/sh", "sh", "-c", line.c_str(), vocabulary.c_str(), nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "w");
  from_ = fdopen(from[0], "r");
}

TextPeer::~TextPeer() {
  if (to_ != nullptr) std::fclose(to_);
  if (from_ != nullptr) std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::optional<TextPeer::Answer> TextPeer::tokenize(const std::string& path) {
  if (to_ == nullptr || from_ == nullptr) return {};
  std::fprintf(to_, "%s\n", path.c_str());
  std::fflush(to_);
  Answer answer;
  if (std::fscanf(from_, "%lf %" SCNu64 " %" SCNu32, &answer.milliseconds, &answer.tokens,
                  &answer.hash) != 3) {
    return {};
  }
  return answer;
}
