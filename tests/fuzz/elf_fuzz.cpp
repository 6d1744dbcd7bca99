// Bytes: a plugin's file, as somebody names it to be inspected; what is asked of it before it is
// loaded.
#include <span>

#include "halogen/plugin.h"

#include "core/host/elf_object.h"
#include "core/host/elf_traits.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace halogen;

bool lies_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_object(const ElfObject& object, std::string_view bytes) {
  for (const std::string_view name : object.needed()) {
    fuzz::require(name == "?" || lies_within(name, bytes), "a name lies in the file");
  }
  fuzz::require(lies_within(object.run_path(), bytes), "a path lies in the file");
  for (const ElfSymbol& symbol : object.symbols()) {
    fuzz::require(lies_within(symbol.name, bytes), "a symbol's name lies in the file");
  }
  for (const std::string& reason : reasons_to_stay_mapped(object)) {
    fuzz::require(fuzz::is_one_clean_line(reason), "a reason is one line of text", reason);
  }
  const ElfSymbol* entry = object.defined(HALOGEN_PLUGIN_SYMBOL);
  if (entry == nullptr) return;
  (void)object.read<halogen_plugin>(entry->address);
  if (const auto descriptor =
          object.pointer(entry->address + offsetof(halogen_plugin, descriptor))) {
    if (const auto id = object.text(*descriptor)) {
      fuzz::require(lies_within(*id, bytes), "a text lies in the file");
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto object = ElfObject::parse(std::as_bytes(std::span(data, size)));
  if (object) {
    check_object(*object, fuzz::text_of(data, size));
  } else {
    fuzz::require(fuzz::is_one_clean_line(object.error().message), "an error is one line of text",
                  object.error().message);
  }
  return 0;
}
