// halogen_edit_gguf SOURCE SAFETENSORS TARGET: see with_tensors_of.
#include <iostream>

#include "tests/models/edited_gguf.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: halogen_edit_gguf SOURCE.gguf MODEL.safetensors TARGET.gguf\n";
    return 64;
  }
  return halogen::test::with_tensors_of(argv[1], argv[2], argv[3]) ? 0 : 1;
}
