// Another tokenizer that runs beside ours: a program that reads the path of a text per line and
// answers each with a line "MILLISECONDS TOKENS HASH": of processor time, and FNV-1a over the ids
// (32 bits each step).
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <sys/types.h>

class TextPeer {
 public:
  // Starts `command VOCABULARY` in a shell.
  TextPeer(const std::string& command, const std::string& vocabulary);
  ~TextPeer();
  TextPeer(const TextPeer&) = delete;
  TextPeer& operator=(const TextPeer&) = delete;

  struct Answer {
    double milliseconds = 0;
    uint64_t tokens = 0;
    uint32_t hash = 0;
  };

  // Nothing when the program has ended or answers otherwise.
  std::optional<Answer> tokenize(const std::string& path);

 private:
  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};
