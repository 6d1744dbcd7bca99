// Attention over the paged cache against double arithmetic, and the same bits in every call
// pattern.
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "tests/unit/cpu_kernels/random_blocks.h"

namespace halogen::cpu::testing {
namespace {

// A pool of blocks in a scrambled order with `length` random positions stored by kv_store.
struct Cache {
  KvGeometry kv;
  std::vector<uint8_t> key_bytes;
  std::vector<uint8_t> value_bytes;
  std::vector<uint32_t> table;
  std::vector<std::vector<float>> k;  // per position, [kv_heads][key_dim], as stored
  std::vector<std::vector<float>> v;

  Cache(const KernelSet& set, halogen_type type, uint32_t block_tokens, uint32_t kv_heads,
        uint32_t key_dim, uint32_t value_dim, uint32_t length, uint32_t seed = 1) {
    std::mt19937 random(seed);
    const uint32_t blocks = (length + block_tokens - 1) / block_tokens;
    const size_t element = type == HALOGEN_F16 ? 2 : 4;
    const size_t key_block = size_t{block_tokens} * kv_heads * key_dim * element;
    const size_t value_block = size_t{block_tokens} * kv_heads * value_dim * element;
    key_bytes.resize(blocks * key_block);
    value_bytes.resize(blocks * value_block);
    kv = {type,       block_tokens,     kv_heads,           key_dim,
          value_dim,  key_bytes.data(), value_bytes.data(), key_block,
          value_block};
    for (uint32_t b = 0; b < blocks; ++b) table.push_back(blocks - 1 - b);
    for (uint32_t p = 0; p < length; ++p) {
      k.push_back(random_floats(size_t{kv_heads} * key_dim, random));
      v.push_back(random_floats(size_t{kv_heads} * value_dim, random));
      set.kv_store(kv, table[p / block_tokens], p % block_tokens, k[p].data(), v[p].data());
      if (type == HALOGEN_F16)
        for (auto* values : {&k[p], &v[p]}) {
          std::vector<uint16_t> halves(values->size());
          set.f32_to_f16(values->data(), values->size(), halves.data());
          set.f16_to_f32(halves.data(), halves.size(), values->data());
        }
    }
  }
};

struct Query {
  uint32_t kv_head = 0;
  uint32_t n_heads = 1;
  uint32_t first = 0;
  uint32_t last = 0;
  float scale = 0.125f;
  float softcap = 0;
  std::vector<float> sinks = {};
  std::vector<float> q = {};  // [n_heads][key_dim]
};

std::vector<float> attend(const KernelSet& set, const Cache& cache, const Query& query) {
  std::vector<float> out(size_t{query.n_heads} * cache.kv.value_dim, std::nanf(""));
  std::vector<float> scratch(attend_scratch(query.n_heads));
  set.attend({&cache.kv, cache.table.data(), query.kv_head, query.n_heads, query.q.data(),
              cache.kv.key_dim, query.first, query.last, query.scale, query.softcap,
              query.sinks.empty() ? nullptr : query.sinks.data(), out.data(), cache.kv.value_dim,
              scratch.data()});
  return out;
}

std::vector<double> attend_in_double(const Cache& cache, const Query& query) {
  const size_t key_dim = cache.kv.key_dim;
  const size_t value_dim = cache.kv.value_dim;
  std::vector<double> out(query.n_heads * value_dim);
  for (size_t h = 0; h < query.n_heads; ++h) {
    std::vector<double> weights;
    double largest = query.sinks.empty() ? -INFINITY : query.sinks[h];
    for (size_t p = query.first; p <= query.last; ++p) {
      double score = 0;
      for (size_t d = 0; d < key_dim; ++d)
        score +=
            static_cast<double>(query.q[h * key_dim + d]) * cache.k[p][query.kv_head * key_dim + d];
      score *= query.scale;
      if (query.softcap != 0) score = query.softcap * std::tanh(score / query.softcap);
      weights.push_back(score);
      largest = std::max(largest, score);
    }
    double sum = query.sinks.empty() ? 0 : std::exp(query.sinks[h] - largest);
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (size_t p = query.first; p <= query.last; ++p)
      for (size_t d = 0; d < value_dim; ++d)
        out[h * value_dim + d] +=
            weights[p - query.first] / sum * cache.v[p][query.kv_head * value_dim + d];
  }
  return out;
}

class Attention : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const KernelSet& set_ = kernels(GetParam());

  void expect_right(const Cache& cache, Query query, float deviation = 1.0f) {
    std::mt19937 random(query.last + 17);
    query.q = random_floats(size_t{query.n_heads} * cache.kv.key_dim, random, deviation);
    const auto out = attend(set_, cache, query);
    const auto expected = attend_in_double(cache, query);
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_NEAR(out[i], expected[i], 5e-6)
          << "element " << i << " positions " << query.first << ".." << query.last;
  }
};

TEST_P(Attention, MatchesDoubleAtBlockAndTileBorders) {
  for (const halogen_type type : {HALOGEN_F16, HALOGEN_F32}) {
    const Cache cache(set_, type, 16, 2, 64, 64, 200);
    for (const uint32_t last : {0, 1, 7, 15, 16, 17, 31, 32, 62, 63, 64, 65, 127, 128, 199})
      for (const uint32_t head : {0, 1})
        expect_right(cache, {.kv_head = head, .n_heads = 4, .last = last});
  }
}

TEST_P(Attention, MatchesDoubleInWindows) {
  const Cache cache(set_, HALOGEN_F16, 16, 1, 64, 64, 200);
  for (const uint32_t first : {1, 15, 16, 63, 64, 65, 130})
    for (const uint32_t length : {1, 2, 16, 60})
      expect_right(cache, {.n_heads = 2, .first = first, .last = first + length - 1});
}

TEST_P(Attention, MatchesDoubleForEveryGroupSize) {
  const Cache cache(set_, HALOGEN_F16, 32, 1, 128, 128, 100);
  for (uint32_t heads = 1; heads <= 9; ++heads) expect_right(cache, {.n_heads = heads, .last = 99});
}

TEST_P(Attention, MatchesDoubleForOddSizes) {
  for (const halogen_type type : {HALOGEN_F16, HALOGEN_F32})
    for (const uint32_t block_tokens : {1, 3, 64, 100}) {
      const Cache cache(set_, type, block_tokens, 3, 20, 13, 150);
      expect_right(cache, {.kv_head = 2, .n_heads = 5, .last = 149});
    }
}

TEST_P(Attention, MatchesDoubleWithSoftcapAndSinks) {
  const Cache cache(set_, HALOGEN_F32, 16, 1, 64, 64, 150);
  expect_right(cache, {.n_heads = 3, .last = 149, .softcap = 5.0f}, 4.0f);
  expect_right(cache, {.n_heads = 3, .last = 149, .sinks = {0.0f, 3.0f, -40.0f}});
  expect_right(cache, {.n_heads = 3, .last = 149, .softcap = 2.0f, .sinks = {50.0f, 1.0f, 9.0f}});
}

// Scores far apart: the running maximum rises by hundreds between tiles and the rest underflows.
TEST_P(Attention, MatchesDoubleForPeakedScores) {
  const Cache cache(set_, HALOGEN_F32, 16, 1, 64, 64, 300);
  for (const uint32_t last : {63, 200, 299})
    expect_right(cache, {.n_heads = 2, .last = last, .scale = 1.0f}, 12.0f);
}

TEST_P(Attention, OfNothingIsZero) {
  const Cache cache(set_, HALOGEN_F16, 16, 1, 64, 64, 16);
  const Query query = {.n_heads = 1, .first = 5, .last = 4, .q = std::vector<float>(64, 1.0f)};
  EXPECT_EQ(attend(set_, cache, query), std::vector<float>(64, 0.0f));
}

TEST_P(Attention, HasTheSameBitsForAnyBlockSizeAndGrouping) {
  std::optional<std::vector<float>> expected;
  std::mt19937 random(3);
  Query query = {.n_heads = 7, .first = 3, .last = 180};
  query.q = random_floats(size_t{7} * 64, random);
  for (const uint32_t block_tokens : {1, 8, 16, 48, 256}) {
    const Cache cache(set_, HALOGEN_F16, block_tokens, 1, 64, 64, 181);
    const auto out = attend(set_, cache, query);
    if (!expected) expected = out;
    EXPECT_EQ(out, *expected) << block_tokens;
    for (uint32_t h = 0; h < 7; ++h) {
      Query alone = query;
      alone.n_heads = 1;
      alone.q.assign(&query.q[h * 64], &query.q[h * 64] + 64);
      EXPECT_EQ(attend(set_, cache, alone), std::vector<float>(&out[h * 64], &out[h * 64] + 64));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Attention, ::testing::ValuesIn(available_sets()),
                         [](const auto& set) { return instruction_set_name(set.param); });

}  // namespace
}  // namespace halogen::cpu::testing
