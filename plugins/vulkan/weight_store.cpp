#include "plugins/vulkan/weight_store.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "plugins/common/rope_frequencies.h"
#include "plugins/vulkan/failure.h"
#include "plugins/vulkan/shader_interface.h"

namespace halogen::vulkan {
namespace {

uint64_t elements_of(const halogen_weight& weight) {
  uint64_t elements = 1;
  for (uint32_t d = 0; d < weight.n_dims; d++) elements *= static_cast<uint64_t>(weight.dims[d]);
  return elements;
}

// IEEE 754 binary16.
float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  float value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

uint32_t coarse_rows(const halogen_limits& limits) {
  return groups_of(limits.max_context, kAngleRows);
}

uint64_t table_bytes(const Rotation& rotation, uint32_t rows) {
  return uint64_t{rows} * (rotation.attributes.dims / 2) * 2 * sizeof(float);
}

// (cos, sin) of positions 0, step, 2 * step, ...
std::vector<float> angle_table(const std::vector<float>& frequencies, uint32_t rows, uint32_t step,
                               double magnitude) {
  std::vector<float> table;
  table.reserve(size_t{rows} * frequencies.size() * 2);
  for (uint32_t row = 0; row < rows; row++) {
    for (const float frequency : frequencies) {
      const double angle = static_cast<double>(row) * step * static_cast<double>(frequency);
      table.push_back(static_cast<float>(std::cos(angle) * magnitude));
      table.push_back(static_cast<float>(std::sin(angle) * magnitude));
    }
  }
  return table;
}

}  // namespace

uint64_t WeightStore::bytes(const Plan& plan, const halogen_graph& graph,
                            const halogen_limits& limits) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < graph.n_weights; i++) {
    if (plan.matrices[i]) bytes += MemoryPool::aligned(graph.weights[i]->bytes);
    if (plan.vectors[i])
      bytes += MemoryPool::aligned(elements_of(*graph.weights[i]) * sizeof(float));
  }
  for (const Rotation& rotation : plan.rotations) {
    bytes += MemoryPool::aligned(table_bytes(rotation, kAngleRows)) +
             MemoryPool::aligned(table_bytes(rotation, coarse_rows(limits)));
  }
  return bytes;
}

WeightStore::WeightStore(Device& device, Transfers& transfers, const Plan& plan,
                         const halogen_program_request& request, const Progress& progress)
    : transfers_(transfers),
      memory_(device, MemoryUse::device, bytes(plan, *request.graph, *request.limits)),
      matrices_(request.graph->n_weights),
      vectors_(request.graph->n_weights) {
  const halogen_graph& graph = *request.graph;
  uint64_t total = 1, done = 0;
  for (uint32_t i = 0; i < graph.n_weights; i++) total += graph.weights[i]->bytes;
  for (uint32_t i = 0; i < graph.n_weights; i++) {
    if (!progress(static_cast<double>(done) / static_cast<double>(total)))
      throw Failure(HALOGEN_E_CANCELLED, "cancelled");
    put_weight(plan, request, i);
    done += graph.weights[i]->bytes;
  }
  for (const Rotation& rotation : plan.rotations) put_angles(rotation, request);
}

Span WeightStore::put(const void* data, uint64_t bytes) {
  const Span span = memory_.take(bytes);
  transfers_.upload(data, span);
  return span;
}

void WeightStore::put_weight(const Plan& plan, const halogen_program_request& request,
                             uint32_t weight) {
  const halogen_weight_data& data = request.weights[weight];
  if (plan.matrices[weight]) matrices_[weight] = put(data.data, data.bytes);
  if (plan.vectors[weight]) {
    const std::vector<float> copy = floats(request, weight);
    vectors_[weight] = put(copy.data(), copy.size() * sizeof(float));
  }
}

std::vector<float> WeightStore::floats(const halogen_program_request& request,
                                       uint32_t weight) const {
  const halogen_weight& info = *request.graph->weights[weight];
  const void* data = request.weights[weight].data;
  std::vector<float> result(elements_of(info));
  if (info.type == HALOGEN_F32) {
    std::memcpy(result.data(), data, result.size() * sizeof(float));
    return result;
  }
  for (size_t i = 0; i < result.size(); i++) {
    uint16_t bits = 0;
    std::memcpy(&bits, static_cast<const uint8_t*>(data) + 2 * i, sizeof bits);
    result[i] =
        info.type == HALOGEN_F16 ? half_value(bits) : std::bit_cast<float>(uint32_t{bits} << 16);
  }
  return result;
}

void WeightStore::put_angles(const Rotation& rotation, const halogen_program_request& request) {
  std::vector<float> factors;
  if (rotation.factors != HALOGEN_NO_VALUE)
    factors = floats(request, request.graph->values[rotation.factors]->source);
  const std::vector<float> frequencies =
      backends::rope_frequencies(rotation.attributes, factors.empty() ? nullptr : factors.data());
  const std::vector<float> fine = angle_table(frequencies, kAngleRows, 1, 1.0);
  const std::vector<float> coarse = angle_table(frequencies, coarse_rows(*request.limits),
                                                kAngleRows, rotation.attributes.attention_factor);
  angles_.push_back({put(fine.data(), fine.size() * sizeof(float)).address,
                     put(coarse.data(), coarse.size() * sizeof(float)).address});
}

}  // namespace halogen::vulkan
