// What an ELF object says about whether dlclose can ever unmap it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halogen {

// [any] The properties of a 64-bit little-endian object that keep it mapped, in words:
// DF_1_NODELETE, symbols of GNU_UNIQUE binding, destructors of thread-local objects. Empty where
// there is none, or where the bytes are no such object. The format: System V ABI, "Object Files".
std::vector<std::string> reasons_to_stay_mapped(std::span<const std::byte> object);

}  // namespace halogen
