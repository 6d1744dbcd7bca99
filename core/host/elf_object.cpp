#include "core/host/elf_object.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace halogen {
namespace {

struct Machine {
  uint16_t id;
  const char* name;
  uint32_t relative, absolute;  // relocations: the object's base plus addend; symbol plus addend
};
constexpr Machine kMachines[] = {
    {EM_X86_64, "x86-64", R_X86_64_RELATIVE, R_X86_64_64},
    {EM_AARCH64, "AArch64", R_AARCH64_RELATIVE, R_AARCH64_ABS64},
    {EM_RISCV, "RISC-V", R_RISCV_RELATIVE, R_RISCV_64},
    {EM_PPC64, "POWER", R_PPC64_RELATIVE, R_PPC64_ADDR64},
};

const Machine* find_machine(uint16_t id) {
  const auto* found = std::ranges::find(kMachines, id, &Machine::id);
  return found == std::end(kMachines) ? nullptr : found;
}

// Names are shorter; a file that says otherwise shall not cost more.
constexpr size_t kLongestText = 4096;

Error refuse(std::string what) {
  return fail(HALOGEN_E_INVALID, std::move(what));
}

// What somebody may have given in place of a shared object.
std::string guess(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "it is empty";
  const auto head = std::string_view(reinterpret_cast<const char*>(bytes.data()),
                                     std::min<size_t>(bytes.size(), 512));
  if (head.starts_with("!<arch>")) return "it is a static library";
  if (head.starts_with("version https://git-lfs")) return "it is a Git LFS pointer, not the file";
  const bool text = std::ranges::all_of(head, [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\r' || c == '\t';
  });
  return text ? "it is a text file" : "it is not an ELF file";
}

Status check_header(const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return refuse("it is not a 64-bit object");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return refuse("it is not a little-endian object");
  if (header.e_type == ET_REL)
    return refuse("it is an object file that was not linked; link it with -shared");
  if (header.e_type != ET_DYN) return refuse("it is not a shared object");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0)
    return refuse("its program headers are damaged");
  return {};
}

// The end of a range in the file; the largest number where it overflows.
uint64_t end_of(uint64_t offset, uint64_t size) {
  return size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
}

}  // namespace

std::string machine_name(uint16_t machine) {
  const Machine* known = find_machine(machine);
  return known ? known->name : "machine " + std::to_string(machine);
}

uint16_t this_machine() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#elif defined(__riscv)
  return EM_RISCV;
#elif defined(__powerpc64__)
  return EM_PPC64;
#else
#error "which machine is this?"
#endif
}

Result<ElfObject> ElfObject::parse(std::span<const std::byte> bytes) {
  ElfObject object(bytes);
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return refuse(guess(bytes));
  const auto header = object.value_at<Elf64_Ehdr>(0);
  if (!header) return refuse("it is cut off in its header");
  object.header_ = *header;
  if (auto status = check_header(*header); !status) return status.error();
  if (auto status = object.read_segments(); !status) return status.error();
  if (auto status = object.check_complete(); !status) return status.error();
  if (auto status = object.read_dynamic(); !status) return status.error();
  object.read_symbols();
  return object;
}

Status ElfObject::read_segments() {
  bool program = false;
  for (uint64_t i = 0; i < header_.e_phnum; ++i) {
    const auto segment = value_at<Elf64_Phdr>(end_of(header_.e_phoff, i * sizeof(Elf64_Phdr)));
    if (!segment) return refuse("it is cut off in its program headers");
    if (segment->p_type == PT_LOAD) loads_.push_back(*segment);
    if (segment->p_type == PT_DYNAMIC) dynamic_ = *segment;
    program = program || segment->p_type == PT_INTERP;
  }
  if (loads_.empty() || dynamic_.p_filesz == 0)
    return refuse(program ? "it is a program, not a shared object"
                          : "it has nothing to load; its program headers are damaged");
  return {};
}

// The loader maps what the headers name, and touching a page that the file does not have ends the
// process.
Status ElfObject::check_complete() const {
  uint64_t end = header_.e_shoff == 0
                     ? 0
                     : end_of(header_.e_shoff, uint64_t{header_.e_shnum} * header_.e_shentsize);
  for (const Elf64_Phdr& segment : loads_) {
    if (segment.p_filesz > segment.p_memsz ||
        end_of(segment.p_vaddr, segment.p_memsz) == UINT64_MAX)
      return refuse("its program headers are damaged");
    end = std::max(end, end_of(segment.p_offset, segment.p_filesz));
  }
  if (end > bytes_.size())
    return refuse("it is cut off: it has " + std::to_string(bytes_.size()) + " of " +
                  (end == UINT64_MAX ? "many more" : std::to_string(end)) + " bytes");
  return {};
}

std::optional<uint64_t> ElfObject::offset_of(uint64_t address, uint64_t size) const {
  for (const Elf64_Phdr& segment : loads_) {
    if (address < segment.p_vaddr) continue;
    const uint64_t within = address - segment.p_vaddr;
    if (within <= segment.p_filesz && size <= segment.p_filesz - within)
      return segment.p_offset + within;
  }
  return std::nullopt;
}

std::string_view ElfObject::text_at(uint64_t offset) const {
  if (offset >= bytes_.size()) return {};
  const char* start = reinterpret_cast<const char*>(bytes_.data()) + offset;
  return {start, strnlen(start, std::min(bytes_.size() - offset, kLongestText))};
}

std::optional<std::string_view> ElfObject::text(uint64_t address) const {
  const auto offset = offset_of(address, 1);
  if (!offset) return std::nullopt;
  const std::string_view found = text_at(*offset);
  if (*offset + found.size() == bytes_.size()) return std::nullopt;  // not terminated
  return found;
}

Status ElfObject::read_dynamic() {
  std::map<int64_t, uint64_t> values;
  std::vector<uint64_t> needed;
  const uint64_t count = dynamic_.p_filesz / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < count; ++i) {
    const auto entry = value_at<Elf64_Dyn>(end_of(dynamic_.p_offset, i * sizeof(Elf64_Dyn)));
    if (!entry) return refuse("its dynamic section is damaged");
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) needed.push_back(entry->d_un.d_val);
    values[entry->d_tag] = entry->d_un.d_val;
  }
  flags_1_ = values[DT_FLAGS_1];
  if ((flags_1_ & DF_1_PIE) != 0) return refuse("it is a program, not a shared object");
  strings_ = values[DT_STRTAB];
  for (const uint64_t name : needed) needed_.push_back(text(end_of(strings_, name)).value_or("?"));
  for (const int64_t tag : {DT_RPATH, DT_RUNPATH})
    if (values.contains(tag)) run_path_ = text(end_of(strings_, values[tag])).value_or("");

  for (const auto& [table, size] : {std::pair{DT_RELA, DT_RELASZ}, {DT_JMPREL, DT_PLTRELSZ}})
    if (values.contains(table)) read_table(values[table], values[size], relocations_);
  if (values.contains(DT_RELR)) read_table(values[DT_RELR], values[DT_RELRSZ], relative_);
  return {};
}

template <typename T>
void ElfObject::read_table(uint64_t address, uint64_t bytes, std::vector<T>& table) const {
  const auto offset = offset_of(address, bytes);
  if (!offset) return;
  for (uint64_t at = 0; bytes - at >= sizeof(T); at += sizeof(T))
    if (const auto entry = value_at<T>(*offset + at)) table.push_back(*entry);
}

// Only the section headers tell how many dynamic symbols there are; the loader's hash tables hold
// no undefined ones.
void ElfObject::read_symbols() {
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) return;
  const auto names = offset_of(strings_, 1);
  for (uint64_t i = 0; names && i < header_.e_shnum; ++i) {
    const auto section = value_at<Elf64_Shdr>(end_of(header_.e_shoff, i * sizeof(Elf64_Shdr)));
    if (!section || section->sh_type != SHT_DYNSYM) continue;
    for (uint64_t at = sizeof(Elf64_Sym); at < section->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = value_at<Elf64_Sym>(end_of(section->sh_offset, at));
      if (!symbol) break;
      symbols_.push_back({text_at(*names + symbol->st_name), symbol->st_value, symbol->st_size,
                          static_cast<uint8_t>(ELF64_ST_TYPE(symbol->st_info)),
                          static_cast<uint8_t>(ELF64_ST_BIND(symbol->st_info)),
                          symbol->st_shndx != SHN_UNDEF});
    }
    return;
  }
}

const ElfSymbol* ElfObject::defined(std::string_view name) const {
  const auto found = std::ranges::find_if(
      symbols_, [&](const ElfSymbol& symbol) { return symbol.defined && symbol.name == name; });
  return found == symbols_.end() ? nullptr : &*found;
}

std::optional<uint64_t> ElfObject::pointer(uint64_t address) const {
  for (const Elf64_Rela& relocation : relocations_)
    if (relocation.r_offset == address) return relocated(relocation);
  const auto word = read<uint64_t>(address);
  if (!word || *word == 0 || is_relative(address)) return word;
  return std::nullopt;  // a number, not a pointer
}

std::optional<uint64_t> ElfObject::relocated(const Elf64_Rela& relocation) const {
  const Machine* machine = find_machine(header_.e_machine);
  const auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
  const auto addend = static_cast<uint64_t>(relocation.r_addend);
  if (!machine) return std::nullopt;
  if (type == machine->relative) return addend;
  const uint64_t index = ELF64_R_SYM(relocation.r_info);  // symbols_ leaves out symbol 0
  if (type != machine->absolute || index == 0 || index > symbols_.size()) return std::nullopt;
  const ElfSymbol& symbol = symbols_[index - 1];
  return symbol.defined ? std::optional(symbol.address + addend) : std::nullopt;
}

// DT_RELR: an even word is an address and the first of a run; an odd word has a bit for each of the
// 63 words that follow the run so far.
bool ElfObject::is_relative(uint64_t address) const {
  uint64_t next = 0;
  for (const uint64_t word : relative_) {
    if ((word & 1) == 0) {
      if (word == address) return true;
      next = word + sizeof word;
      continue;
    }
    const uint64_t ahead = (address - next) / sizeof word;
    if (address >= next && ahead < 63 && (word >> (ahead + 1) & 1) != 0) return true;
    next += 63 * sizeof word;
  }
  return false;
}

}  // namespace halogen
