#include "core/host/elf_traits.h"

#include <algorithm>

#include "core/base/printable.h"

namespace halogen {

std::vector<std::string> reasons_to_stay_mapped(const ElfObject& object) {
  std::vector<std::string> reasons;
  if (object.never_unloaded()) reasons.emplace_back("it is linked with -z nodelete");
  const auto& symbols = object.symbols();
  const auto unique = std::ranges::find_if(symbols, [](const ElfSymbol& symbol) {
    return symbol.defined && symbol.binding == STB_GNU_UNIQUE;
  });
  if (unique != symbols.end())
    reasons.push_back("it defines a GNU_UNIQUE symbol (" + printable(unique->name) +
                      "); build it with -fno-gnu-unique");
  if (std::ranges::any_of(symbols, [](const ElfSymbol& symbol) {
        return symbol.name.starts_with("__cxa_thread_atexit");
      }))
    reasons.emplace_back(
        "it has thread_local objects with destructors, which hold it until the threads that used "
        "them end");
  return reasons;
}

}  // namespace halogen
