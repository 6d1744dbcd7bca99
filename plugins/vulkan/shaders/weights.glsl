// Rows of weights in the file's layout, eight elements at a time. Each header of weights/ says
//   uvec2 piece_columns(uint piece)       the columns that the two quads of a piece begin at
//   void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second)
// for pieces 0 to columns / 8 of a row, rounded up. Plain types alone have rows that end within a
// piece; what is past the end reads as zero. For integer products the quantised types also say, of
// spans of 32 elements that are two runs of 16,
//   uvec2 span_columns(uint span)         the columns that the runs begin at
//   void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales,
//                  out vec2 minima)       element = scale * signed byte - minimum, of each run
// The formats are described in ggml's documentation; what the headers add is which word each quad
// and run comes from.
#include "bits.glsl"

#if defined(WEIGHTS_F32)
#include "weights/f32.glsl"
#elif defined(WEIGHTS_F16)
#include "weights/f16.glsl"
#elif defined(WEIGHTS_BF16)
#include "weights/bf16.glsl"
#elif defined(WEIGHTS_Q4_0)
#include "weights/q4_0.glsl"
#elif defined(WEIGHTS_Q4_1)
#include "weights/q4_1.glsl"
#elif defined(WEIGHTS_Q5_0)
#include "weights/q5_0.glsl"
#elif defined(WEIGHTS_Q5_1)
#include "weights/q5_1.glsl"
#elif defined(WEIGHTS_Q8_0)
#include "weights/q8_0.glsl"
#elif defined(WEIGHTS_IQ4_NL)
#include "weights/iq4_nl.glsl"
#elif defined(WEIGHTS_MXFP4)
#include "weights/mxfp4.glsl"
#elif defined(WEIGHTS_Q2_K)
#include "weights/q2_k.glsl"
#elif defined(WEIGHTS_Q3_K)
#include "weights/q3_k.glsl"
#elif defined(WEIGHTS_Q4_K)
#include "weights/q4_k.glsl"
#elif defined(WEIGHTS_Q5_K)
#include "weights/q5_k.glsl"
#elif defined(WEIGHTS_Q6_K)
#include "weights/q6_k.glsl"
#elif defined(WEIGHTS_IQ4_XS)
#include "weights/iq4_xs.glsl"
#endif

uint pieces_of(uint columns) { return (columns + 7u) / 8u; }
