#include "core/host/elf_traits.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include <elf.h>

namespace halogen {
namespace {

// Copies a T out of the object; nothing where it would lie outside. Objects come from the outside,
// so no offset in them is trusted.
template <typename T>
std::optional<T> read_at(std::span<const std::byte> object, uint64_t offset) {
  if (offset > object.size() || object.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, object.data() + offset, sizeof(T));
  return value;
}

std::string_view string_at(std::span<const std::byte> object, uint64_t offset) {
  if (offset >= object.size()) return {};
  const char* start = reinterpret_cast<const char*>(object.data()) + offset;
  return {start, strnlen(start, object.size() - offset)};
}

bool has_nodelete(std::span<const std::byte> object, const Elf64_Shdr& dynamic) {
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.sh_size; at += sizeof(Elf64_Dyn)) {
    const auto entry = read_at<Elf64_Dyn>(object, dynamic.sh_offset + at);
    if (!entry) return false;
    if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODELETE) != 0) return true;
  }
  return false;
}

void check_symbols(std::span<const std::byte> object, const Elf64_Shdr& symbols,
                   const Elf64_Shdr& strings, std::vector<std::string>& reasons) {
  std::string unique;
  bool thread_destructors = false;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = read_at<Elf64_Sym>(object, symbols.sh_offset + at);
    if (!symbol) break;
    const std::string_view name = string_at(object, strings.sh_offset + symbol->st_name);
    if (unique.empty() && ELF64_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE &&
        symbol->st_shndx != SHN_UNDEF)
      unique = name;
    if (name.starts_with("__cxa_thread_atexit")) thread_destructors = true;
  }
  if (!unique.empty())
    reasons.push_back("it defines a GNU_UNIQUE symbol (" + unique +
                      "); build it with -fno-gnu-unique");
  if (thread_destructors)
    reasons.emplace_back(
        "it has thread_local objects with destructors, which hold it until the threads that used "
        "them end");
}

}  // namespace

std::vector<std::string> reasons_to_stay_mapped(std::span<const std::byte> object) {
  std::vector<std::string> reasons;
  const auto header = read_at<Elf64_Ehdr>(object, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return reasons;
  const auto section = [&](uint64_t index) {
    return read_at<Elf64_Shdr>(object, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto found = section(i);
    if (!found) break;
    if (found->sh_type == SHT_DYNAMIC && has_nodelete(object, *found))
      reasons.emplace_back("it is linked with -z nodelete");
    if (found->sh_type != SHT_DYNSYM) continue;
    if (const auto strings = section(found->sh_link))
      check_symbols(object, *found, *strings, reasons);
  }
  return reasons;
}

}  // namespace halogen
