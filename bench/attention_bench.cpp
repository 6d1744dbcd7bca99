// How fast attention is on one thread: a decode step (one token) beside a plain read of memory,
// prefill (a tile of tokens at the end of the context) beside the peak of fused multiply-adds, both
// measured in this run. Shapes are those of one K/V head of Qwen2.5 0.5B (7 query heads of 64) and
// 1.5B (6 of 128). The caches of a decode run are larger together than the processor's.
//
//   attention_bench --benchmark_filter='avx2/decode/7x64/F16'
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/one_core.h"
#include "plugins/cpu/attention.h"
#include "plugins/cpu/memory.h"
#include "tests/unit/cpu_kernels/random_blocks.h"

namespace {

using namespace halogen::cpu;
using halogen::bench::fastest_rate, halogen::bench::read_bandwidth;

constexpr uint32_t kBlockTokens = 16;
constexpr size_t kDecodeBytes = size_t{96} << 20;
constexpr uint32_t kPrefillTokens = 256;

#ifdef __x86_64__
#define WITH_FMA __attribute__((target("avx2,fma")))
#else
#define WITH_FMA
#endif

using Lanes = float __attribute__((vector_size(32)));

// Twelve chains of fused multiply-adds, which stay in registers.
WITH_FMA void multiply_add_chains(int turns, Lanes* sums) {
  Lanes a = sums[0], b = sums[1], c = sums[2], d = sums[3], e = sums[4], f = sums[5], g = sums[6],
        h = sums[7], i = sums[8], j = sums[9], k = sums[10], l = sums[11];
  const Lanes factor = sums[12], term = sums[13];
  for (int turn = 0; turn < turns; turn++) {
    a = a * factor + term, b = b * factor + term, c = c * factor + term, d = d * factor + term;
    e = e * factor + term, f = f * factor + term, g = g * factor + term, h = h * factor + term;
    i = i * factor + term, j = j * factor + term, k = k * factor + term, l = l * factor + term;
  }
  sums[0] = a + b + c + d + e + f + g + h + i + j + k + l;
}

// Floating-point operations per second, two for each lane.
double multiply_add_peak() {
  constexpr int kTurns = 2'000'000;
  Lanes sums[14] = {};
  return fastest_rate(16.0 * 12 * kTurns, 10, [&] {
    multiply_add_chains(kTurns, sums);
    benchmark::DoNotOptimize(sums);
  });
}

double peak() {
  static const double best = multiply_add_peak();
  return best;
}

struct Shape {
  uint32_t heads, dim;
};

// One K/V head's cache of `context` positions, and room for a tile.
struct Cache {
  KvGeometry kv{};
  Memory memory;  // K, then V; on huge pages as a pool is
  std::vector<uint32_t> table;

  Cache(const KernelSet& set, Shape shape, halogen_type type, uint32_t context) {
    const uint32_t blocks = context / kBlockTokens;
    const size_t row = halogen_row_bytes(type, shape.dim);
    kv = {.key_type = type,
          .value_type = type,
          .block_tokens = kBlockTokens,
          .kv_heads = 1,
          .key_dim = shape.dim,
          .value_dim = shape.dim,
          .keys = nullptr,
          .values = nullptr,
          .key_row_bytes = row,
          .value_row_bytes = row,
          .key_block_bytes = row * kBlockTokens,
          .value_block_bytes = row * kBlockTokens};
    memory = Memory(2 * blocks * kv.key_block_bytes);
    kv.keys = memory.data();
    kv.values = memory.data() + blocks * kv.key_block_bytes;
    std::mt19937 random(7);
    const auto k = testing::random_floats(shape.dim, random);
    const auto v = testing::random_floats(shape.dim, random);
    for (uint32_t b = 0; b < blocks; b++) {
      table.push_back(b);
      for (uint32_t slot = 0; slot < kBlockTokens; slot++)
        set.kv_store(kv, b, slot, k.data(), v.data());
    }
  }
};

struct Tile {
  std::vector<uint32_t> first, last;
  std::vector<float> q, out, scratch;
  AttendScratch sizes{};
  AttendTile tile{};

  // The last `tokens` tokens of the context.
  Tile(Shape shape, uint32_t context, uint32_t tokens) {
    std::mt19937 random(8);
    const size_t width = size_t{shape.heads} * shape.dim;
    for (uint32_t t = 0; t < tokens; t++) {
      first.push_back(0);
      last.push_back(context - tokens + t);
    }
    q = testing::random_floats(width * tokens, random);
    out.resize(q.size());
    const uint32_t rows = shape.heads * tokens;
    sizes = {rows, shape.dim, shape.dim, rows * std::max<size_t>(kFlashChunk, context)};
    scratch.resize(sizes.floats());
    tile = {nullptr,     nullptr,  0,     tokens, shape.heads, first.data(),
            last.data(), q.data(), width, 0.1F,   0.0F,        nullptr};
  }
  void attend(const KernelSet& set, const Cache& cache, AttendWay way) {
    tile.kv = &cache.kv;
    tile.block_table = cache.table.data();
    attend_tile(set, tile, way, sizes, scratch.data(), out.data(), tile.q_stride);
  }
};

void decode(benchmark::State& state, const KernelSet& set, Shape shape, halogen_type type,
            AttendWay way) {
  const auto context = static_cast<uint32_t>(state.range(0));
  const size_t bytes = 2 * context * halogen_row_bytes(type, shape.dim);
  std::vector<Cache> caches;  // as many as one cache must not hold
  while (caches.size() * bytes < kDecodeBytes) caches.emplace_back(set, shape, type, context);
  Tile tile(shape, context, 1);
  for (auto _ : state) {
    for (const Cache& cache : caches) tile.attend(set, cache, way);
    benchmark::ClobberMemory();
  }
  const double all = static_cast<double>(bytes * caches.size());
  using benchmark::Counter;
  state.counters["B/s"] = Counter(all, Counter::kIsIterationInvariantRate);
  state.counters["of_read"] =
      Counter(all / read_bandwidth(kDecodeBytes), Counter::kIsIterationInvariantRate);
}

void prefill(benchmark::State& state, const KernelSet& set, Shape shape, halogen_type type,
             AttendWay way) {
  const auto context = static_cast<uint32_t>(state.range(0));
  const uint32_t tokens = std::max(1U, 64 / shape.heads);
  const Cache cache(set, shape, type, context);
  Tile tile(shape, context, tokens);
  for (auto _ : state) {
    for (uint32_t t = 0; t < kPrefillTokens; t += tokens) tile.attend(set, cache, way);
    benchmark::ClobberMemory();
  }
  const uint32_t tiles = (kPrefillTokens + tokens - 1) / tokens;
  double positions = 0;
  for (const uint32_t last : tile.last) positions += last + 1;
  const double operations = 4.0 * shape.heads * shape.dim * positions * tiles;
  using benchmark::Counter;
  state.counters["op/s"] = Counter(operations, Counter::kIsIterationInvariantRate);
  state.counters["of_peak"] = Counter(operations / peak(), Counter::kIsIterationInvariantRate);
}

void register_all(InstructionSet id) {
  const KernelSet& set = kernels(id);
  for (const Shape shape : {Shape{7, 64}, Shape{6, 128}, Shape{1, 128}}) {
    for (const halogen_type type : {HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0}) {
      for (const auto& [way, way_name] :
           {std::pair(AttendWay::flash, "flash"), std::pair(AttendWay::plain, "plain")}) {
        const std::string what = std::to_string(shape.heads) + "x" + std::to_string(shape.dim) +
                                 "/" + halogen_type_find(type)->name + "/" + way_name;
        const std::string name = set.name;
        for (const int64_t context : {512, 4096, 32768}) {
          benchmark::RegisterBenchmark((name + "/decode/" + what).c_str(), decode, set, shape, type,
                                       way)
              ->Arg(context)
              ->Unit(benchmark::kMillisecond);
          benchmark::RegisterBenchmark((name + "/prefill/" + what).c_str(), prefill, set, shape,
                                       type, way)
              ->Arg(context)
              ->Unit(benchmark::kMillisecond);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const InstructionSet set : testing::available_sets()) register_all(set);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
