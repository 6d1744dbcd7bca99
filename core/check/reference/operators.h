// The operators of halogen/graph.h on scalars in float64, one function each, written from the
// header and the papers that it names. Each also bounds what an implementation of the given
// precision may err: the rounding of its own arithmetic, and its inputs' errors carried through.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halogen/graph.h"

#include "core/check/reference/precision.h"
#include "core/check/reference/tensor.h"

namespace halogen::reference {

// A stored weight as real numbers: errors are those of dequantising it in 32 bits.
Tensor stored_weight(const halogen_weight& weight, const void* data);

Tensor embed(std::span<const int32_t> ids, const Tensor& table, float scale, Precision precision);

// weight and bias may be null.
Tensor norm(halogen_norm_kind kind, const Tensor& x, const Tensor* weight, const Tensor* bias,
            float epsilon, float weight_offset, Precision precision);

// x [.., in], weight [out, in], bias null or [out]. `quantised`: activations may be rounded to 8
// bits where the precision allows it.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor* bias, bool quantised,
              Precision precision);

// x [T, H, D]; factors null or [dims / 2].
Tensor rope(const Tensor& x, std::span<const int32_t> positions, const Tensor* factors,
            const halogen_rope_attributes& attributes, Precision precision);

Tensor glu(const Tensor& gate, const Tensor& up, halogen_activation activation, float alpha,
           float limit, Precision precision);
Tensor activate(const Tensor& x, halogen_activation activation, Precision precision);
Tensor add(const Tensor& a, const Tensor& b, Precision precision);
Tensor multiply(const Tensor& a, const Tensor& b, Precision precision);
Tensor scale(const Tensor& x, float factor, Precision precision);
Tensor softcap(const Tensor& x, float cap, Precision precision);
Tensor select_rows(const Tensor& x, std::span<const int32_t> rows);
Tensor split(const Tensor& x, size_t offset, size_t length);
Tensor concat(const Tensor& a, const Tensor& b);

struct Route {
  std::vector<int32_t> ids;  // [T, used], best first
  Tensor weights;            // [T, used]
};
Route moe_route(const Tensor& logits, const Tensor* correction,
                const halogen_route_attributes& attributes, Precision precision);
// x [T, in] or [T, used, in], weight [experts, out, in], bias null or [experts, out].
Tensor moe_linear(const Tensor& x, const Tensor& weight, std::span<const int32_t> ids, size_t used,
                  const Tensor* bias, bool quantised, Precision precision);
Tensor moe_combine(const Tensor& x, const Tensor& weights, Precision precision);

}  // namespace halogen::reference
