// How fast the CPU kernels are on one thread, each figure next to the physical limit it lives
// under: decode (one token) beside a plain read of memory, with the weights in the file's layout
// and interleaved, and once more from a cache; prefill (64 tokens) in integer or float operations
// per second (two per weight and token). The weights of the decode runs are larger than any cache.
//
// The share of the bandwidth is taken of the best plain read seen at the start of this run, so
// compare runs on a quiet machine.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/one_core.h"
#include "plugins/cpu/kernels/interleave.h"
#include "plugins/cpu/kernels/kernel_set.h"
#include "tests/unit/cpu_kernels/random_blocks.h"

namespace {

using namespace halogen::cpu;
using halogen::bench::read_all, halogen::bench::read_bandwidth;

constexpr size_t kColumns = 4096;
constexpr size_t kDecodeBytes = size_t{192} << 20;
constexpr size_t kCachedBytes = size_t{256} << 10;
constexpr size_t kPrefillRows = 1024;

// A matrix, tokens for it and the place for the result.
struct Problem {
  halogen_type type;
  std::vector<uint8_t> weights;
  testing::Activations activations;
  std::vector<float> y;
  LinearCall call;

  Problem(const KernelSet& set, halogen_type weight_type, size_t rows, size_t tokens, bool exact)
      : type(weight_type) {
    std::mt19937 random(7);
    // A few random rows suffice: the kernels' time does not depend on the values.
    const size_t distinct = std::min<size_t>(rows, 64);
    const std::vector<uint8_t> some = testing::random_weights(type, distinct * kColumns, random);
    const size_t row_bytes = some.size() / distinct;
    weights.resize(row_bytes * rows);
    for (size_t r = 0; r < rows; ++r)
      std::memcpy(&weights[r * row_bytes], &some[r % distinct * row_bytes], row_bytes);
    const auto format = exact ? ActivationFormat::kF32 : activation_format(type);
    activations = testing::make_activations(
        set, format, testing::random_floats(tokens * kColumns, random), kColumns);
    y.resize(tokens * rows);
    call = {.weights = weights.data(),
            .row_bytes = row_bytes,
            .row_begin = 0,
            .row_end = rows,
            .k = kColumns,
            .activations = activations.bytes.data(),
            .activation_stride_bytes = activations.stride_bytes,
            .n_tokens = tokens,
            .y = y.data(),
            .y_stride = rows};
  }

  void interleave(size_t panel_rows) {
    const Interleaving to = {type, call.row_end, kColumns, panel_rows};
    std::vector<uint8_t> panels(to.bytes());
    for (size_t panel = 0; panel < to.panels(); ++panel)
      interleave_panel(to, weights.data(), panel, &panels[panel * to.panel_bytes()]);
    weights = std::move(panels);
    call.weights = weights.data();
    call.interleaved = true;
  }
};

enum class Layout { kFile, kInterleaved };

void decode(benchmark::State& state, const KernelSet& set, halogen_type type, Layout layout,
            size_t total_bytes) {
  const size_t row_bytes = halogen_row_bytes(type, kColumns);
  Problem problem(set, type, total_bytes / row_bytes, 1, false);
  if (layout == Layout::kInterleaved) problem.interleave(set.panel_rows);
  LinearKernel* kernel = set.linear(type);
  for (auto _ : state) {
    kernel(problem.call);
    benchmark::ClobberMemory();
  }
  const double bytes = static_cast<double>(problem.weights.size());
  using benchmark::Counter;
  state.counters["B/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
  state.counters["of_read"] =
      Counter(bytes / read_bandwidth(kDecodeBytes), Counter::kIsIterationInvariantRate);
}

// The tokens are the argument.
void prefill(benchmark::State& state, const KernelSet& set, halogen_type type, bool exact) {
  const auto tokens = static_cast<size_t>(state.range(0));
  Problem problem(set, type, kPrefillRows, tokens, exact);
  LinearKernel* kernel = exact ? set.linear_exact(type) : set.linear(type);
  for (auto _ : state) {
    kernel(problem.call);
    benchmark::ClobberMemory();
  }
  const double operations = 2.0 * static_cast<double>(kPrefillRows * tokens * kColumns);
  using benchmark::Counter;
  state.counters["op/s"] = Counter(operations, Counter::kIsIterationInvariantRate);
}

void read_memory(benchmark::State& state) {
  const std::vector<uint8_t> bytes(kDecodeBytes, 1);
  for (auto _ : state) benchmark::DoNotOptimize(read_all(bytes));
  state.counters["B/s"] = benchmark::Counter(static_cast<double>(bytes.size()),
                                             benchmark::Counter::kIsIterationInvariantRate);
}

void vector_function(benchmark::State& state, void (*function)(const float*, size_t, float*)) {
  std::mt19937 random(7);
  const auto x = testing::random_floats(kColumns, random);
  std::vector<float> out(x.size());
  for (auto _ : state) {
    function(x.data(), x.size(), out.data());
    benchmark::ClobberMemory();
  }
  state.counters["elements/s"] = benchmark::Counter(static_cast<double>(kColumns),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}

void register_set(InstructionSet id) {
  const KernelSet& set = kernels(id);
  const std::string prefix = std::string(set.name) + "/";
  using benchmark::RegisterBenchmark;
  for (const halogen_type type : testing::all_types()) {
    const std::string name = halogen_type_find(type)->name;
    for (const Layout layout : {Layout::kFile, Layout::kInterleaved}) {
      const bool interleaved = layout == Layout::kInterleaved;
      if (interleaved && (set.panel_rows == 0 || halogen_type_find(type)->block_elements == 1))
        continue;
      const std::string layout_name = interleaved ? "interleaved/" : "file/";
      for (const auto& [what, bytes] :
           {std::pair("decode/", kDecodeBytes), std::pair("decode_cached/", kCachedBytes)})
        RegisterBenchmark((prefix + what + layout_name + name).c_str(), decode, set, type, layout,
                          bytes)
            ->Unit(benchmark::kMillisecond);
    }
    RegisterBenchmark((prefix + "prefill/" + name).c_str(), prefill, set, type, false)
        ->Arg(2)
        ->Arg(4)
        ->Arg(8)
        ->Arg(16)
        ->Arg(64)
        ->Arg(512)
        ->Unit(benchmark::kMillisecond);
  }
  RegisterBenchmark((prefix + "prefill_exact/Q4_K").c_str(), prefill, set, HALOGEN_Q4_K, true)
      ->Arg(64)
      ->Unit(benchmark::kMillisecond);
  RegisterBenchmark((prefix + "exp").c_str(), vector_function, set.exp);
  RegisterBenchmark((prefix + "silu").c_str(), vector_function, set.silu);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RegisterBenchmark("read", read_memory)->Unit(benchmark::kMillisecond);
  for (const InstructionSet set : testing::available_sets()) register_set(set);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
