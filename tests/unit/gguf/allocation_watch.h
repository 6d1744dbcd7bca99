// Watches operator new in the test program, so that a test can say how much a parse asked for.
#pragma once

#include <cstddef>

namespace halogen::gguf::test {

// The largest single allocation on any thread since the last call of reset_largest_allocation().
size_t largest_allocation();
void reset_largest_allocation();

}  // namespace halogen::gguf::test
