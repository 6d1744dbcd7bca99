#include "core/check/backend/test_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/check/reference/dequantise.h"
#include "core/check/reference/random_weights.h"

namespace halogen::check {
namespace {

// Rounds 32 floats to codes times a power of two, of which one is the largest code that the type
// has: whatever rule a backend finds its step by, it finds this one.
void to_codes(float* block, halogen_type type, float spread, std::mt19937& random) {
  const bool bytes = type == HALOGEN_Q8_0;
  const float step = (bytes ? 0x1p-6F : 0x1p-2F) * std::exp2(std::nearbyint(std::log2(spread)));
  const float most = bytes ? 127.0F : 7.0F;
  for (int i = 0; i < 32; i++)
    block[i] = std::min(std::max(std::nearbyint(block[i] / step), -most), most) * step;
  block[random() % 32] = (random() % 2 == 0 ? 1.0F : -1.0F) * (bytes ? 127.0F : 8.0F) * step;
}

}  // namespace

TestGraph::TestGraph(std::mt19937 random, uint32_t vocabulary, uint32_t hidden_width)
    : random_(random), vocabulary_(vocabulary), builder_(vocabulary, hidden_width) {}

TestGraph::Value TestGraph::weight(halogen_type type, const std::vector<int64_t>& dims,
                                   float spread) {
  size_t elements = 1;
  for (const int64_t dim : dims) elements *= static_cast<size_t>(dim);
  const std::vector<uint8_t> bytes = reference::random_weights(type, elements, random_, spread);
  std::vector<double> values(elements);
  reference::dequantise(type, bytes.data(), elements, values.data());
  double squares = 0;
  for (const double value : values) squares += value * value;
  root_mean_square_ = std::sqrt(squares / static_cast<double>(elements));
  return weight(type, dims, bytes);
}

TestGraph::Value TestGraph::weight(halogen_type type, const std::vector<int64_t>& dims,
                                   const std::vector<uint8_t>& bytes) {
  memory_.emplace_back(bytes);
  memory_.back().protect();
  pointers_.push_back(memory_.back().data());
  return builder_.weight("weight" + std::to_string(pointers_.size()), type, dims);
}

TestGraph::Value TestGraph::activations(int64_t width, float spread, halogen_type kept_as) {
  std::vector<float> table =
      reference::random_floats(vocabulary_ * static_cast<size_t>(width), random_, spread);
  for (float& value : table)
    if (kept_as == HALOGEN_F16)
      value = static_cast<float>(reference::half_value(reference::nearest_half(value)));
  for (size_t i = 0; kept_as != HALOGEN_F32 && kept_as != HALOGEN_F16 && i < table.size(); i += 32)
    to_codes(&table[i], kept_as, spread, random_);
  std::vector<uint8_t> bytes(table.size() * sizeof(float));
  std::memcpy(bytes.data(), table.data(), bytes.size());
  return builder_.embed(builder_.token_ids(), weight(HALOGEN_F32, {vocabulary_, width}, bytes));
}

TestGraph::Value TestGraph::heads(int64_t heads, int64_t size, float spread, halogen_type kept_as) {
  return builder_.reshape(activations(heads * size, spread, kept_as),
                          {HALOGEN_DIM_TOKENS, heads, size});
}

void TestGraph::output(Value value, int64_t width) {
  const Value flat = builder_.reshape(value, {HALOGEN_DIM_TOKENS, width});
  builder_.set_hidden(builder_.select_rows(flat, builder_.rows()));
}

Status TestGraph::finish() {
  auto graph = builder_.finish();
  if (!graph) return graph.error();
  graph_ = std::move(*graph);
  return {};
}

std::vector<halogen_weight_data> TestGraph::weight_data() const {
  std::vector<halogen_weight_data> data;
  for (uint32_t i = 0; i < graph().n_weights; i++)
    data.push_back({pointers_[i], graph().weights[i]->bytes, nullptr});
  return data;
}

}  // namespace halogen::check
