// Values in float64, each with the error that an implementation may make up to there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halogen::reference {

struct Tensor {
  std::vector<size_t> dims;    // outermost first; all known
  std::vector<double> values;  // row-major
  std::vector<double> errors;  // bound of |computed - value|, like values

  Tensor() = default;
  explicit Tensor(std::vector<size_t> shape) : dims(std::move(shape)) {
    size_t elements = 1;
    for (const size_t dim : dims) elements *= dim;
    values.resize(elements);
    errors.resize(elements);
  }

  size_t rows() const { return dims.empty() ? 0 : dims[0]; }
  // Elements of a row: all dimensions but the first.
  size_t width() const { return rows() == 0 ? 0 : values.size() / rows(); }
  size_t last() const { return dims.back(); }

  void set(size_t i, double value, double error) {
    values[i] = value;
    errors[i] = error;
  }
};

}  // namespace halogen::reference
