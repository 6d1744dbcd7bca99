#include "tests/models/npz.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace halogen::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
T at(const std::string& bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size())
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The bytes of a stored zip entry, found by walking the local headers through the central
// directory.
std::string zip_entry(const std::string& zip, const std::string& name) {
  size_t at_end = zip.rfind("PK\x05\x06");
  if (at_end == std::string::npos) return {};
  size_t entry = at<uint32_t>(zip, at_end + 16);
  for (uint16_t left = at<uint16_t>(zip, at_end + 10); left > 0; left--) {
    const auto name_size = at<uint16_t>(zip, entry + 28);
    const std::string entry_name = zip.substr(entry + 46, name_size);
    const auto bytes = at<uint32_t>(zip, entry + 24);
    const auto local = at<uint32_t>(zip, entry + 42);
    if (entry_name == name) {
      const size_t data =
          local + 30 + at<uint16_t>(zip, local + 26) + at<uint16_t>(zip, local + 28);
      return zip.substr(data, bytes);
    }
    entry += 46 + name_size + at<uint16_t>(zip, entry + 30) + at<uint16_t>(zip, entry + 32);
  }
  return {};
}

template <typename T>
void convert(const std::string& data, size_t count, std::vector<double>& values) {
  for (size_t i = 0; i < count; i++)
    values.push_back(static_cast<double>(at<T>(data, i * sizeof(T))));
}

}  // namespace

Array read_npz(const std::string& path, const std::string& name) {
  const std::string npy = zip_entry(read_file(path), name + ".npy");
  Array array;
  if (npy.size() < 10) return array;
  const size_t header_size = at<uint16_t>(npy, 8);
  const std::string header = npy.substr(10, header_size);
  const size_t open = header.find('('), close = header.find(')');
  std::istringstream dims(header.substr(open + 1, close - open - 1));
  size_t count = 1;
  for (std::string dim; std::getline(dims, dim, ',');) {
    if (dim.find_first_of("0123456789") == std::string::npos) continue;
    array.shape.push_back(std::stoul(dim));
    count *= array.shape.back();
  }
  const std::string data = npy.substr(10 + header_size);
  if (header.find("<f4") != std::string::npos) convert<float>(data, count, array.values);
  if (header.find("<f8") != std::string::npos) convert<double>(data, count, array.values);
  if (header.find("<i4") != std::string::npos) convert<int32_t>(data, count, array.values);
  return array;
}

std::vector<float> read_floats(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace halogen::test
