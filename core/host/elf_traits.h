// What an ELF object says about whether dlclose can ever unmap it.
#pragma once

#include <string>
#include <vector>

#include "core/host/elf_object.h"

namespace halogen {

// [any] The properties of an object that keep it mapped, in words: DF_1_NODELETE, symbols of
// GNU_UNIQUE binding, destructors of thread-local objects. Empty where there is none.
std::vector<std::string> reasons_to_stay_mapped(const ElfObject& object);

}  // namespace halogen
