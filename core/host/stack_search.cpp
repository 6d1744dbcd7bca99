#include "core/host/stack_search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace halogen {
namespace {

std::string task_file(pid_t thread, const char* name) {
  return "/proc/self/task/" + std::to_string(thread) + '/' + name;
}

// Where a thread will go on that waits in the kernel.
struct Registers {
  uintptr_t stack = 0, program = 0;
};

// proc_pid_syscall(5): "running", or words of which the last two are the stack pointer and the
// program counter.
std::optional<Registers> parse_registers(const std::vector<std::string>& words) {
  if (words.size() < 3) return std::nullopt;
  Registers registers;
  const auto parse = [](const std::string& word, uintptr_t& value) {
    return word.starts_with("0x") &&
           std::from_chars(word.data() + 2, word.data() + word.size(), value, 16).ec == std::errc{};
  };
  if (!parse(words[words.size() - 2], registers.stack) || !parse(words.back(), registers.program))
    return std::nullopt;
  return registers;
}

// The end of the mapping that holds `address`; 0 where there is none.
uintptr_t end_of_mapping(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    AddressRange range;
    char dash = 0;
    if (words >> std::hex >> range.begin >> dash >> range.end && range.contains(address))
      return range.end;
  }
  return 0;
}

bool in_code(const std::vector<AddressRange>& code, uintptr_t address) {
  return std::ranges::any_of(code,
                             [=](const AddressRange& range) { return range.contains(address); });
}

// Reads another thread's stack through the kernel: it may be unmapped at any moment.
bool stack_points_into(const std::vector<AddressRange>& code, uintptr_t stack) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return false;
  const uintptr_t end = end_of_mapping(stack);
  std::array<uintptr_t, 4096> words;
  bool found = false;
  for (uintptr_t at = stack & ~(sizeof(uintptr_t) - 1); at < end && !found;) {
    const size_t wanted = std::min(sizeof words, end - at);
    const ssize_t got = ::pread(memory, words.data(), wanted, static_cast<off_t>(at));
    if (got <= 0) break;
    const std::span read(words.data(), static_cast<size_t>(got) / sizeof(uintptr_t));
    found = std::ranges::any_of(read, [&](uintptr_t word) { return in_code(code, word); });
    at += static_cast<size_t>(got);
  }
  ::close(memory);
  return found;
}

enum class Place { outside, inside, unknown };

// A thread that has ended is nowhere; nor is one of which the kernel does not tell.
Place place_of(pid_t thread, const std::vector<AddressRange>& code) {
  std::ifstream file(task_file(thread, "syscall"));
  const std::vector<std::string> words(std::istream_iterator<std::string>(file), {});
  if (words.size() == 1 && words[0] == "running") return Place::unknown;
  const auto registers = parse_registers(words);
  const bool inside =
      registers && (in_code(code, registers->program) || stack_points_into(code, registers->stack));
  return inside ? Place::inside : Place::outside;
}

std::string name_of(pid_t thread) {
  std::ifstream file(task_file(thread, "comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

std::set<pid_t> thread_ids() {
  std::set<pid_t> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/task", error), end; !error && it != end;
       it.increment(error))
    threads.insert(static_cast<pid_t>(std::stol(it->path().filename().string())));
  return threads;
}

ThreadSearch threads_inside(const std::vector<AddressRange>& code, std::set<pid_t> bystanders,
                            std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::set<pid_t> outside = std::move(bystanders);
  outside.insert(::gettid());
  while (!code.empty()) {
    ThreadSearch found;
    for (const pid_t thread : thread_ids()) {
      if (outside.contains(thread)) continue;
      const Place place = place_of(thread, code);
      if (place == Place::outside)
        outside.insert(thread);
      else
        (place == Place::inside ? found.inside : found.unseen).push_back(name_of(thread));
    }
    if (found.empty() || std::chrono::steady_clock::now() >= deadline) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

}  // namespace halogen
