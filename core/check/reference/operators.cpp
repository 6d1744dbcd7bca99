#include "core/check/reference/operators.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/check/reference/dequantise.h"

namespace halogen::reference {
namespace {

// Roundings of a short chain of operations, with the error of an approximated exp or tanh.
constexpr double kFunction = 24;

double largest(std::span<const double> values) {
  double magnitude = 0;
  for (const double value : values) magnitude = std::max(magnitude, std::fabs(value));
  return magnitude;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double activation_of(halogen_activation activation, double x) {
  constexpr double kSqrt2OverPi = 0.79788456080286535588;
  switch (activation) {
    case HALOGEN_SILU:
      return x * sigmoid(x);
    case HALOGEN_GELU_TANH:  // Hendrycks and Gimpel 2016, arXiv:1606.08415
      return 0.5 * x * (1 + std::tanh(kSqrt2OverPi * (x + 0.044715 * x * x * x)));
    case HALOGEN_GELU_ERF:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case HALOGEN_RELU:
      return std::max(x, 0.0);
    default:
      return sigmoid(x);
  }
}

// The steepest of them, GELU, rises by 1.13 at most.
constexpr double kSteepest = 1.13;

double activation_error(halogen_activation activation, double x, double error, double unit) {
  const double size = activation == HALOGEN_SIGMOID ? 1 : std::fabs(x);
  return kSteepest * error + kFunction * (kUnit32 + (unit == kUnit32 ? 0 : unit)) * size;
}

// One row of a product. `squares` are the sums of the squared weights of each segment.
constexpr size_t kSegment = 256;  // the largest block that activations are rounded in together

struct Row {
  const double* weights;
  const double* weight_errors;
  std::vector<double> squares;
};

Row describe_row(const Tensor& weight, size_t row, size_t in) {
  Row described{&weight.values[row * in], &weight.errors[row * in], {}};
  for (size_t first = 0; first < in; first += kSegment) {
    double sum = 0;
    for (size_t j = first; j < std::min(in, first + kSegment); j++)
      sum += described.weights[j] * described.weights[j];
    described.squares.push_back(sum);
  }
  return described;
}

// The error that rounding activations to 8 bits makes: each is off by up to half a step of its
// block's largest magnitude / 127. Uniform and independent, so seven standard deviations of the
// sum.
double rounding_to_8_bits(const Row& row, const double* x, size_t in) {
  double variance = 0;
  for (size_t s = 0; s < row.squares.size(); s++) {
    const size_t first = s * kSegment;
    const double step = largest({x + first, std::min(in - first, kSegment)}) / 127;
    variance += row.squares[s] * step * step / 12;
  }
  return 7 * std::sqrt(variance);
}

void product(const Row& row, const double* x, const double* x_errors, size_t in, bool quantised,
             Precision precision, double& value, double& error) {
  double sum = 0, magnitude = 0, carried = 0;
  for (size_t j = 0; j < in; j++) {
    sum += row.weights[j] * x[j];
    magnitude += std::fabs(row.weights[j] * x[j]);
    carried += std::fabs(row.weights[j]) * x_errors[j] + row.weight_errors[j] * std::fabs(x[j]);
  }
  value = sum;
  error = carried + sum_error(in) * magnitude;
  if (quantised && precision != Precision::f32) error += rounding_to_8_bits(row, x, in);
  if (precision == Precision::f16) error += kUnit16 * magnitude;
}

Tensor elementwise(const Tensor& a, const Tensor& b,
                   const std::function<void(size_t, double, double, double, double)>& visit) {
  Tensor result(a.dims);
  for (size_t i = 0; i < a.values.size(); i++) {
    const size_t j = i % b.values.size();  // b lacks leading dimensions
    visit(i, a.values[i], a.errors[i], b.values[j], b.errors[j]);
  }
  return result;
}

}  // namespace

Tensor stored_weight(const halogen_weight& weight, const void* data) {
  std::vector<size_t> dims;
  for (uint32_t d = 0; d < weight.n_dims; d++) dims.push_back(static_cast<size_t>(weight.dims[d]));
  Tensor tensor(dims);
  // The errors are the magnitudes' until they are scaled; four roundings make a value from its
  // scales, integer and minimum.
  dequantise(weight.type, data, tensor.values.size(), tensor.values.data(), tensor.errors.data());
  const bool exact = halogen_type_find(weight.type)->block_elements == 1;
  for (double& error : tensor.errors) error *= exact ? 0 : 4 * kUnit32;
  return tensor;
}

Tensor embed(std::span<const int32_t> ids, const Tensor& table, float scale, Precision precision) {
  const size_t width = table.last();
  Tensor result({ids.size(), width});
  for (size_t t = 0; t < ids.size(); t++) {
    for (size_t j = 0; j < width; j++) {
      const size_t from = static_cast<size_t>(ids[t]) * width + j;
      const double value = table.values[from] * scale;
      // A float that is only moved is exact.
      const double rounding =
          scale == 1.0F && precision != Precision::f16 ? 0 : storage_unit(precision);
      result.set(t * width + j, value,
                 table.errors[from] * std::fabs(scale) + rounding * std::fabs(value));
    }
  }
  return result;
}

Tensor norm(halogen_norm_kind kind, const Tensor& x, const Tensor* weight, const Tensor* bias,
            float epsilon, float weight_offset, Precision precision) {
  Tensor result(x.dims);
  const size_t n = x.last();
  const double unit = storage_unit(precision);
  for (size_t first = 0; first < x.values.size(); first += n) {
    double mean = 0, mean_magnitude = 0, mean_error = 0;
    for (size_t j = 0; j < n && kind == HALOGEN_NORM_LAYER; j++) {
      mean += x.values[first + j] / static_cast<double>(n);
      mean_magnitude += std::fabs(x.values[first + j]) / static_cast<double>(n);
      mean_error += x.errors[first + j] / static_cast<double>(n);
    }
    mean_error += sum_error(n) * mean_magnitude;
    double squares = 0, squares_error = 0;
    for (size_t j = 0; j < n; j++) {
      const double centred = x.values[first + j] - mean;
      const double off = x.errors[first + j] + mean_error;
      squares += centred * centred;
      squares_error += 2 * std::fabs(centred) * off + off * off;
    }
    squares_error += sum_error(n) * squares;
    const double divisor = kind == HALOGEN_NORM_L2 ? 1 : static_cast<double>(n);
    // The L2 norm divides by the length, which epsilon keeps from being zero.
    const double root = kind == HALOGEN_NORM_L2
                            ? std::max(std::sqrt(squares), static_cast<double>(epsilon))
                            : std::sqrt(squares / divisor + epsilon);
    const double relative = squares_error / divisor / (2 * root * root) + 8 * kUnit32;
    for (size_t j = 0; j < n; j++) {
      const double normal = (x.values[first + j] - mean) / root;
      const double gain = weight ? weight->values[j] + weight_offset : 1;
      const double offset = bias ? bias->values[j] : 0;
      const double scaled = normal * gain;
      const double error = std::fabs(gain) * (x.errors[first + j] + mean_error) / root +
                           std::fabs(scaled) * (relative + unit) +
                           unit * (std::fabs(offset) + std::fabs(scaled + offset));
      result.set(first + j, scaled + offset, error);
    }
  }
  return result;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor* bias, bool quantised,
              Precision precision) {
  const size_t in = weight.dims[1], out = weight.dims[0], n = x.values.size() / in;
  std::vector<size_t> dims = x.dims;
  dims.back() = out;
  Tensor result(dims);
  for (size_t r = 0; r < out; r++) {
    const Row row = describe_row(weight, r, in);
    for (size_t t = 0; t < n; t++) {
      double value = 0, error = 0;
      product(row, &x.values[t * in], &x.errors[t * in], in, quantised, precision, value, error);
      if (bias) value += bias->values[r];
      const double stored = storage_unit(precision) * (std::fabs(value) + error);
      result.set(t * out + r, value, error + 2 * stored);
    }
  }
  return result;
}

Tensor glu(const Tensor& gate, const Tensor& up, halogen_activation activation, float alpha,
           float limit, Precision precision) {
  Tensor result(gate.dims);
  const double unit = storage_unit(precision);
  for (size_t i = 0; i < gate.values.size(); i++) {
    double g = gate.values[i], u = up.values[i];
    double value = 0, activated = 0, activated_error = 0;
    if (activation == HALOGEN_SWIGLU_CLAMPED) {
      g = std::min(g, static_cast<double>(limit));
      u = std::clamp(u, -static_cast<double>(limit), static_cast<double>(limit)) + 1;
      activated = g * sigmoid(alpha * g);
      activated_error =
          activation_error(HALOGEN_SILU, g, gate.errors[i] * std::max(1.0F, alpha), unit);
    } else {
      activated = activation_of(activation, g);
      activated_error = activation_error(activation, g, gate.errors[i], unit);
    }
    value = activated * u;
    result.set(i, value,
               activated_error * (std::fabs(u) + up.errors[i]) +
                   std::fabs(activated) * up.errors[i] + 2 * unit * std::fabs(value));
  }
  return result;
}

Tensor activate(const Tensor& x, halogen_activation activation, Precision precision) {
  Tensor result(x.dims);
  for (size_t i = 0; i < x.values.size(); i++) {
    result.set(i, activation_of(activation, x.values[i]),
               activation_error(activation, x.values[i], x.errors[i], storage_unit(precision)));
  }
  return result;
}

Tensor add(const Tensor& a, const Tensor& b, Precision precision) {
  Tensor result(a.dims);
  elementwise(a, b, [&](size_t i, double x, double x_error, double y, double y_error) {
    const double sum = x + y;
    result.set(i, sum, x_error + y_error + storage_unit(precision) * (std::fabs(sum) + x_error));
  });
  return result;
}

Tensor multiply(const Tensor& a, const Tensor& b, Precision precision) {
  Tensor result(a.dims);
  elementwise(a, b, [&](size_t i, double x, double x_error, double y, double y_error) {
    result.set(i, x * y,
               std::fabs(x) * y_error + std::fabs(y) * x_error + x_error * y_error +
                   storage_unit(precision) * std::fabs(x * y));
  });
  return result;
}

Tensor scale(const Tensor& x, float factor, Precision precision) {
  Tensor result(x.dims);
  for (size_t i = 0; i < x.values.size(); i++) {
    const double value = x.values[i] * factor;
    result.set(i, value,
               x.errors[i] * std::fabs(factor) + storage_unit(precision) * std::fabs(value));
  }
  return result;
}

Tensor softcap(const Tensor& x, float cap, Precision precision) {
  Tensor result(x.dims);
  for (size_t i = 0; i < x.values.size(); i++) {
    const double value = cap * std::tanh(x.values[i] / cap);
    const double unit = precision == Precision::f16 ? kUnit16 : 0;
    // tanh is nowhere steeper than 1, and its value never larger than its argument.
    result.set(i, value, x.errors[i] + (kFunction * kUnit32 + unit) * std::fabs(x.values[i]));
  }
  return result;
}

Tensor select_rows(const Tensor& x, std::span<const int32_t> rows) {
  std::vector<size_t> dims = x.dims;
  dims[0] = rows.size();
  Tensor result(dims);
  const size_t width = x.width();
  for (size_t r = 0; r < rows.size(); r++) {
    const size_t from = static_cast<size_t>(rows[r]) * width;
    std::copy_n(&x.values[from], width, &result.values[r * width]);
    std::copy_n(&x.errors[from], width, &result.errors[r * width]);
  }
  return result;
}

Tensor split(const Tensor& x, size_t offset, size_t length) {
  std::vector<size_t> dims = x.dims;
  dims.back() = length;
  Tensor result(dims);
  for (size_t from = offset, to = 0; from < x.values.size(); from += x.last(), to += length) {
    std::copy_n(&x.values[from], length, &result.values[to]);
    std::copy_n(&x.errors[from], length, &result.errors[to]);
  }
  return result;
}

Tensor concat(const Tensor& a, const Tensor& b) {
  std::vector<size_t> dims = a.dims;
  dims.back() += b.last();
  Tensor result(dims);
  size_t to = 0;
  for (size_t i = 0; i < a.values.size() / a.last(); i++) {
    for (const Tensor* part : {&a, &b}) {
      std::copy_n(&part->values[i * part->last()], part->last(), &result.values[to]);
      std::copy_n(&part->errors[i * part->last()], part->last(), &result.errors[to]);
      to += part->last();
    }
  }
  return result;
}

Route moe_route(const Tensor& logits, const Tensor* correction,
                const halogen_route_attributes& route, Precision precision) {
  const size_t experts = route.experts, used = route.used;
  Route result{{}, Tensor({logits.rows(), used})};
  for (size_t t = 0; t < logits.rows(); t++) {
    const double* logit = &logits.values[t * experts];
    const double most = *std::max_element(logit, logit + experts);
    std::vector<double> scores(experts);
    double sum = 0;
    for (size_t e = 0; e < experts; e++) {
      scores[e] = route.scoring == 2 ? sigmoid(logit[e]) : std::exp(logit[e] - most);
      sum += scores[e];
    }
    if (route.scoring == 0)
      for (double& score : scores) score /= sum;
    // The correction takes part in the choice alone (DeepSeek-V3, arXiv:2412.19437).
    std::vector<int32_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    const auto merit = [&](int32_t e) {
      const auto i = static_cast<size_t>(e);
      return (route.scoring == 1 ? logit[i] : scores[i]) + (correction ? correction->values[i] : 0);
    };
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return merit(a) != merit(b) ? merit(a) > merit(b) : a < b;
    });
    double chosen = 0;
    for (size_t i = 0; i < used; i++) chosen += scores[static_cast<size_t>(order[i])];
    const bool normalised = route.scoring == 1 || route.renormalise != 0;
    for (size_t i = 0; i < used; i++) {
      const double weight =
          scores[static_cast<size_t>(order[i])] / (normalised ? chosen : 1) * route.scale;
      result.ids.push_back(order[i]);
      double input_error = 0;
      for (size_t e = 0; e < experts; e++)
        input_error = std::max(input_error, logits.errors[t * experts + e]);
      result.weights.set(
          t * used + i, weight,
          std::fabs(weight) * (2 * input_error + (kFunction + sum_error(experts) / kUnit32) *
                                                     storage_unit(precision)));
    }
  }
  return result;
}

Tensor moe_linear(const Tensor& x, const Tensor& weight, std::span<const int32_t> ids, size_t used,
                  const Tensor* bias, bool quantised, Precision precision) {
  const size_t out = weight.dims[1], in = weight.dims[2], tokens = ids.size() / used;
  const bool each = x.dims.size() == 3;  // every expert has its own input
  Tensor result({tokens, used, out});
  for (size_t place = 0; place < ids.size(); place++) {
    const size_t from = (each ? place : place / used) * in;
    const auto expert = static_cast<size_t>(ids[place]);
    for (size_t r = 0; r < out; r++) {
      const Row row = describe_row(weight, expert * out + r, in);
      double value = 0, error = 0;
      product(row, &x.values[from], &x.errors[from], in, quantised, precision, value, error);
      if (bias) value += bias->values[expert * out + r];
      result.set(place * out + r, value,
                 error + 2 * storage_unit(precision) * (std::fabs(value) + error));
    }
  }
  return result;
}

Tensor moe_combine(const Tensor& x, const Tensor& weights, Precision precision) {
  const size_t tokens = x.dims[0], used = x.dims[1], n = x.dims[2];
  Tensor result({tokens, n});
  for (size_t t = 0; t < tokens; t++) {
    for (size_t j = 0; j < n; j++) {
      double sum = 0, error = 0, magnitude = 0;
      for (size_t i = 0; i < used; i++) {
        const size_t place = t * used + i;
        const double w = weights.values[place], v = x.values[place * n + j];
        sum += w * v;
        magnitude += std::fabs(w * v);
        error += std::fabs(w) * x.errors[place * n + j] + weights.errors[place] * std::fabs(v);
      }
      result.set(t * n + j, sum,
                 error + (static_cast<double>(used) + 2) * storage_unit(precision) * magnitude);
    }
  }
  return result;
}

}  // namespace halogen::reference
