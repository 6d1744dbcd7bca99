// Prints what each shader takes on RDNA 3.5, as the table in docs/vulkan-registers.md.
#include <cstdio>
#include <exception>

#include "tests/unit/vulkan_shaders/radv.h"

using namespace halogen::vulkan::testing;

int main() {
  try {
    Radv radv;
    std::puts("| shader | variant | VGPRs | SGPRs | LDS bytes | code bytes | waves per SIMD |");
    std::puts("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (const Variant& variant : shader_variants()) {
      const ShaderStatistics statistics = radv.compile(variant).statistics;
      const auto number = [&](const char* name) {
        return static_cast<unsigned long long>(statistics.at(name));
      };
      std::printf("| %s | %s | %llu | %llu | %llu | %llu | %llu |\n", variant.shader.c_str(),
                  variant.what.c_str(), number("VGPRs"), number("SGPRs"), number("LDS size"),
                  number("Code size"), number("Subgroups per SIMD"));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vulkan_registers: %s\n", error.what());
    return 1;
  }
}
