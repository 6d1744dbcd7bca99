// What every shader begins with: the workgroup's size, and memory by its address.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_basic : require

#include "push_constants.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer FloatQuads { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer FloatPairs { vec2 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Ints { int v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer WordPairs { uvec2 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer WordQuads { uvec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) buffer Halves { uint16_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 1) readonly buffer Bytes { uint8_t v[]; };

uint lane() { return gl_LocalInvocationID.x; }

// Whether the step has row `row`.
bool in_step(uint64_t count, uint row) { return row < Words(count).v[0]; }

Floats row_of(uint64_t base, uint row, uint stride) { return Floats(base + 4ul * (uint64_t(row) * stride)); }

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer StepOf { StepTables tables; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer QueryTiles { QueryTile v[]; };
