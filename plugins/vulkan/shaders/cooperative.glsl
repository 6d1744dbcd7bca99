// Cooperative matrices of 16 x 16: SPV_KHR_cooperative_matrix. glslang 12 has no types for them, so
// they are spelled out with GL_EXT_spirv_intrinsics. It writes literals where the instruction takes
// ids: fix_cooperative_matrices puts that right, and knows the component types by the markers below.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

// OpTypeCooperativeMatrixKHR component, scope (3: subgroup), rows, columns, use (A, B, accumulator)
#define COOPERATIVE_MATRIX(component, use)                                                     \
  spirv_type(extensions = ["SPV_KHR_cooperative_matrix"], capabilities = [6022], id = 4456,    \
             component, 3, 16, 16, use)
#define HALF_COMPONENT 0x7f16
#define FLOAT_COMPONENT 0x7f32

#define MatrixA COOPERATIVE_MATRIX(HALF_COMPONENT, 0)
#define MatrixB COOPERATIVE_MATRIX(HALF_COMPONENT, 1)
#define MatrixSum COOPERATIVE_MATRIX(FLOAT_COMPONENT, 2)

const int kRowMajor = 0, kColumnMajor = 1;

// OpCooperativeMatrixLoadKHR and ...StoreKHR; memory operand 0x20: NonPrivatePointer.
spirv_instruction(id = 4457) MatrixA load_a(spirv_by_reference float16_t from, int major, int stride,
                                            spirv_literal int operand);
spirv_instruction(id = 4457) MatrixB load_b(spirv_by_reference float16_t from, int major, int stride,
                                            spirv_literal int operand);
spirv_instruction(id = 4458) void store_sum(spirv_by_reference float to, MatrixSum sum, int major,
                                            int stride, spirv_literal int operand);
spirv_instruction(id = 4459) MatrixSum multiply_add(MatrixA a, MatrixB b, MatrixSum c);
// OpCompositeConstruct
spirv_instruction(id = 80) MatrixSum fill_sum(float value);

const int kNonPrivate = 0x20;
