#define add_linear_kernels add_linear_kernels_x
#include "plugins/cpu/kernels/linear_avx512.cpp"
void file_kernel(const halogen::cpu::LinearCall& c){ using namespace halogen::cpu::avx512; halogen::cpu::run_panels<BlockKernel<Q4_0>>(c);}
