// The pool's memory against the canonical layout of halogen/backend.h.
#include "plugins/cpu/kv_pool.h"

#include <gtest/gtest.h>

#include "tests/unit/cpu_kernels/random_blocks.h"

namespace halogen::cpu::testing {
namespace {

constexpr uint32_t kBlocks = 3;

struct Pool {
  halogen_kv_layer layers[2] = {};
  const halogen_kv_layer* list[2] = {&layers[0], &layers[1]};
  halogen_graph graph = {};
  halogen_kv_geometry geometry;
  KvPool pool;

  Pool(halogen_type key_type, halogen_type value_type, uint32_t block_tokens)
      : geometry{sizeof geometry, block_tokens, key_type, value_type},
        pool(filled_graph(), geometry, kBlocks) {}

  std::vector<uint8_t> exported(uint32_t block) const {
    std::vector<uint8_t> bytes(pool.bytes_per_block());
    pool.export_block(block, bytes.data());
    return bytes;
  }

 private:
  const halogen_graph& filled_graph() {
    for (uint32_t i = 0; i < 2; i++) {
      layers[i].kv_heads = 2 + i;
      layers[i].key_dim = 64;
      layers[i].value_dim = 32;
    }
    graph.kv_layers = list;
    graph.n_kv_layers = 2;
    return graph;
  }
};

struct Case {
  halogen_type key_type, value_type;
  uint32_t block_tokens;
};

class KvPoolOf : public ::testing::TestWithParam<Case> {};

TEST_P(KvPoolOf, ExportsWhatWasStoredRowByRow) {
  const auto [key_type, value_type, block_tokens] = GetParam();
  const Pool pool(key_type, value_type, block_tokens);
  const KernelSet& set = kernels(InstructionSet::kPortable);
  std::mt19937 random(1);
  std::vector<uint8_t> expected(pool.pool.bytes_per_block());
  uint8_t* next = expected.data();
  for (uint32_t i = 0; i < 2; i++) {
    const KvGeometry& kv = pool.pool.layer(i);
    // A row of one head in a block of one token is the row as the type has it.
    KvGeometry row = kv;
    row.kv_heads = row.block_tokens = 1;
    std::vector<uint8_t> key(kv.key_row_bytes), value(kv.value_row_bytes);
    row.keys = key.data();
    row.values = value.data();
    uint8_t* const values = next + kv.key_block_bytes;
    for (uint32_t slot = 0; slot < block_tokens; slot++) {
      const auto k = random_floats(size_t{kv.kv_heads} * kv.key_dim, random);
      const auto v = random_floats(size_t{kv.kv_heads} * kv.value_dim, random);
      set.kv_store(kv, 1, slot, k.data(), v.data());
      for (uint32_t head = 0; head < kv.kv_heads; head++) {
        set.kv_store(row, 0, 0, &k[size_t{head} * kv.key_dim], &v[size_t{head} * kv.value_dim]);
        const size_t at = size_t{head} * block_tokens + slot;
        std::copy(key.begin(), key.end(), next + at * kv.key_row_bytes);
        std::copy(value.begin(), value.end(), values + at * kv.value_row_bytes);
      }
    }
    next = values + kv.value_block_bytes;
  }
  EXPECT_EQ(pool.exported(1), expected);
}

TEST_P(KvPoolOf, ExportsWhatItImported) {
  const auto [key_type, value_type, block_tokens] = GetParam();
  Pool pool(key_type, value_type, block_tokens);
  std::vector<uint8_t> bytes(pool.pool.bytes_per_block());
  std::mt19937 random(2);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  pool.pool.import_block(2, bytes.data());
  EXPECT_EQ(pool.exported(2), bytes);
  pool.pool.copy(2, 0);
  EXPECT_EQ(pool.exported(0), bytes);
  EXPECT_EQ(pool.exported(1), std::vector<uint8_t>(bytes.size()));
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, KvPoolOf,
    ::testing::Values(Case{HALOGEN_F16, HALOGEN_F16, 16}, Case{HALOGEN_F32, HALOGEN_F16, 8},
                      Case{HALOGEN_Q8_0, HALOGEN_Q4_0, 64}, Case{HALOGEN_Q4_0, HALOGEN_Q8_0, 16},
                      Case{HALOGEN_F16, HALOGEN_F32, 3}, Case{HALOGEN_Q8_0, HALOGEN_F16, 40}));

}  // namespace
}  // namespace halogen::cpu::testing
