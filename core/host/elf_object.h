// A shared object as its file describes it: what it defines, needs and exports, and what its data
// will hold once it is loaded. Nothing of it is run or mapped.
//
// Files come from the outside: no offset, size or index in them is trusted. The format: System V
// ABI, "Object Files" and "Program Loading and Dynamic Linking".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "core/base/result.h"

namespace halogen {

struct ElfSymbol {
  std::string_view name;  // in the object's bytes
  uint64_t address = 0;
  uint64_t size = 0;
  uint8_t type = 0;     // STT_OBJECT, STT_FUNC, …
  uint8_t binding = 0;  // STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE, …
  bool defined = false;
};

class ElfObject {
 public:
  // [any] A 64-bit little-endian shared object of any machine. `bytes` outlive the object. Errors:
  // HALOGEN_E_INVALID with what the file is instead ("it is a text file"), or how much of it is
  // missing.
  static Result<ElfObject> parse(std::span<const std::byte> bytes);

  uint16_t machine() const { return header_.e_machine; }  // EM_X86_64, …
  const std::vector<std::string_view>& needed() const { return needed_; }
  // The folders of DT_RUNPATH, or of the older DT_RPATH, separated by colons.
  std::string_view run_path() const { return run_path_; }
  bool never_unloaded() const { return (flags_1_ & DF_1_NODELETE) != 0; }
  // The dynamic symbols; none where the section headers were stripped.
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }
  const ElfSymbol* defined(std::string_view name) const;

  // What lies at an address of the loaded object. Nothing where the file has no byte for it.
  template <typename T>
  std::optional<T> read(uint64_t address) const {
    const auto offset = offset_of(address, sizeof(T));
    return offset ? value_at<T>(*offset) : std::nullopt;
  }
  // The terminated text at an address.
  std::optional<std::string_view> text(uint64_t address) const;
  // The pointer that will lie at an address: relocated, as an address of this object, or 0 for
  // null. Nothing where it will point into another object.
  std::optional<uint64_t> pointer(uint64_t address) const;

 private:
  explicit ElfObject(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> value_at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    __builtin_memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::string_view text_at(uint64_t offset) const;
  std::optional<uint64_t> offset_of(uint64_t address, uint64_t size) const;

  Status read_segments();
  Status check_complete() const;
  Status read_dynamic();
  template <typename T>
  void read_table(uint64_t address, uint64_t bytes, std::vector<T>& table) const;
  void read_symbols();
  std::optional<uint64_t> relocated(const Elf64_Rela& relocation) const;
  bool is_relative(uint64_t address) const;

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loads_;
  Elf64_Phdr dynamic_{};
  std::vector<std::string_view> needed_;
  std::string_view run_path_;
  uint64_t flags_1_ = 0;
  uint64_t strings_ = 0;  // the address of the string table
  std::vector<Elf64_Rela> relocations_;
  std::vector<uint64_t> relative_;  // the packed relative relocations (DT_RELR)
  std::vector<ElfSymbol> symbols_;
};

// [any] "x86-64" for EM_X86_64; "machine 40" for one without a name here.
std::string machine_name(uint16_t machine);

// [any] The machine of this process.
uint16_t this_machine();

}  // namespace halogen
