// Products of the signed bytes of two words, summed: SPV_KHR_integer_dot_product. glslang 12 has no
// function for it, so the instruction is spelled out: 4450 is
// OpSDotKHR, the capabilities DotProductKHR and DotProductInput4x8BitPackedKHR.
#extension GL_EXT_spirv_intrinsics : require

spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4450)
int dot_of_signed_bytes(uint a, uint b, spirv_literal int packed_as_4x8_bits);

int dot4(uint a, uint b) { return dot_of_signed_bytes(a, b, 0); }
