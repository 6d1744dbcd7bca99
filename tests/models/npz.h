// Reads the arrays of a .npz file (a zip of stored .npy files), for golden numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halogen::test {

struct Array {
  std::vector<size_t> shape;
  std::vector<double> values;  // C order; from f4, f8 or i4

  size_t rows() const { return shape.size() < 2 ? 1 : shape[0]; }
  size_t columns() const { return shape.back(); }
};

// The array `name` ("p2_logits_f32"); empty where the file or the array is missing.
Array read_npz(const std::string& path, const std::string& name);

// Raw little-endian floats.
std::vector<float> read_floats(const std::string& path);

}  // namespace halogen::test
