// Attention over the paged cache against double arithmetic, and the same bits in every call
// pattern.
#include "plugins/cpu/attention.h"

#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "core/check/reference/dequantise.h"
#include "plugins/cpu/kernels/key_groups.h"
#include "tests/unit/cpu_kernels/random_blocks.h"

namespace halogen::cpu::testing {
namespace {

constexpr uint32_t kNoBlock = 0xfffffff0U;  // a block whose bytes cannot be read

struct CacheOptions {
  halogen_type key_type = HALOGEN_F16, value_type = HALOGEN_F16;
  uint32_t block_tokens = 16, kv_heads = 1, key_dim = 64, value_dim = 64;
  uint32_t length = 0;
};

// A pool of blocks in a scrambled order with `length` random positions stored by kv_store.
struct Cache {
  KvGeometry kv{};
  std::vector<uint8_t> key_bytes, value_bytes;
  std::vector<uint32_t> table;
  std::vector<std::vector<double>> k, v;  // per position, [kv_heads][dim], as the pool holds them

  Cache(const KernelSet& set, const CacheOptions& o, uint32_t seed = 1) {
    std::mt19937 random(seed);
    const uint32_t blocks = (o.length + o.block_tokens - 1) / o.block_tokens;
    const size_t rows = size_t{o.block_tokens} * o.kv_heads;
    kv.key_type = o.key_type;
    kv.value_type = o.value_type;
    kv.block_tokens = o.block_tokens;
    kv.kv_heads = o.kv_heads;
    kv.key_dim = o.key_dim;
    kv.value_dim = o.value_dim;
    kv.key_row_bytes = halogen_row_bytes(o.key_type, o.key_dim);
    kv.value_row_bytes = halogen_row_bytes(o.value_type, o.value_dim);
    kv.key_block_bytes = rows * kv.key_row_bytes;
    kv.value_block_bytes = rows * kv.value_row_bytes;
    key_bytes.resize(blocks * kv.key_block_bytes);
    value_bytes.resize(blocks * kv.value_block_bytes);
    kv.keys = key_bytes.data();
    kv.values = value_bytes.data();
    for (uint32_t b = 0; b < blocks; ++b) table.push_back(blocks - 1 - b);
    for (uint32_t p = 0; p < o.length; ++p) {
      const auto key = random_floats(size_t{o.kv_heads} * o.key_dim, random);
      const auto value = random_floats(size_t{o.kv_heads} * o.value_dim, random);
      store(set, p, key, value);
    }
  }

  void store(const KernelSet& set, uint32_t position, const std::vector<float>& key,
             const std::vector<float>& value) {
    const uint32_t block = table[position / kv.block_tokens], slot = position % kv.block_tokens;
    set.kv_store(kv, block, slot, key.data(), value.data());
    k.resize(std::max<size_t>(k.size(), position + 1));
    v.resize(k.size());
    k[position].resize(size_t{kv.kv_heads} * kv.key_dim);
    v[position].resize(size_t{kv.kv_heads} * kv.value_dim);
    const KeyRows key_rows = {kv.key_type, kv.key_row_bytes, kv.block_tokens};
    std::vector<uint8_t> row(kv.key_row_bytes);
    for (size_t head = 0; head < kv.kv_heads; ++head) {
      const size_t rows_before = head * kv.block_tokens;
      read_key(key_rows, kv.keys + block * kv.key_block_bytes + rows_before * kv.key_row_bytes,
               slot, row.data());
      reference::dequantise(kv.key_type, row.data(), kv.key_dim, &k[position][head * kv.key_dim]);
      reference::dequantise(
          kv.value_type,
          kv.values + block * kv.value_block_bytes + (rows_before + slot) * kv.value_row_bytes,
          kv.value_dim, &v[position][head * kv.value_dim]);
    }
  }
};

struct Query {
  uint32_t kv_head = 0;
  uint32_t n_heads = 1;
  std::vector<uint32_t> first = {0}, last = {0};  // of each token
  float scale = 0.125F;
  float softcap = 0;
  std::vector<float> sinks = {};
  std::vector<float> q = {};  // [tokens][n_heads][key_dim]
};

AttendTile tile_of(const Cache& cache, const Query& query) {
  AttendTile tile{};
  tile.kv = &cache.kv;
  tile.block_table = cache.table.data();
  tile.kv_head = query.kv_head;
  tile.n_tokens = static_cast<uint32_t>(query.first.size());
  tile.n_heads = query.n_heads;
  tile.first = query.first.data();
  tile.last = query.last.data();
  tile.q = query.q.data();
  tile.q_stride = size_t{query.n_heads} * cache.kv.key_dim;
  tile.scale = query.scale;
  tile.softcap = query.softcap;
  tile.sinks = query.sinks.empty() ? nullptr : query.sinks.data();
  return tile;
}

AttendScratch sizes_of(const AttendTile& tile) {
  const size_t stride = std::max<size_t>(kFlashChunk, plain_score_stride(tile.from(), tile.to()));
  return {tile.rows(), tile.kv->key_dim, tile.kv->value_dim, tile.rows() * stride};
}

std::vector<float> attend(const KernelSet& set, const Cache& cache, const Query& query,
                          AttendWay way) {
  const AttendTile tile = tile_of(cache, query);
  const AttendScratch sizes = sizes_of(tile);
  std::vector<float> out(size_t{tile.rows()} * cache.kv.value_dim, std::nanf(""));
  std::vector<float> scratch(sizes.floats(), std::nanf(""));
  attend_tile(set, tile, way, sizes, scratch.data(), out.data(),
              size_t{query.n_heads} * cache.kv.value_dim);
  return out;
}

// The flash way as several threads share it: every chunk on its own, then folded.
std::vector<float> attend_split(const KernelSet& set, const Cache& cache, const Query& query) {
  const AttendTile tile = tile_of(cache, query);
  const AttendScratch sizes = sizes_of(tile);
  const uint32_t value_dim = cache.kv.value_dim;
  const size_t rows = tile.rows(), stride = attend_aligned(value_dim);
  const uint32_t begin = tile.from() / kFlashChunk, end = (tile.to() - 1) / kFlashChunk + 1;
  std::vector<std::vector<float>> parts(end - begin, std::vector<float>(rows * (stride + 2)));
  std::vector<float> scratch(sizes.floats(), std::nanf(""));
  const auto part = [&](uint32_t chunk) {
    float* floats = parts[chunk - begin].data();
    return AttendRows{floats, floats + rows * stride, floats + rows * stride + rows};
  };
  for (uint32_t chunk = end; chunk-- > begin;)
    attend_chunk(set, tile, chunk, sizes, scratch.data(), part(chunk));
  std::vector<float> out(rows * value_dim);
  for (uint32_t row = 0; row < rows; ++row) {
    const uint32_t token = row / tile.n_heads;
    const AttendRows total = part(tile.first[token] / kFlashChunk).from(row, value_dim);
    for (uint32_t c = tile.first[token] / kFlashChunk + 1; c <= tile.last[token] / kFlashChunk; ++c)
      fold_row(set, value_dim, total, part(c).from(row, value_dim));
    finish_row(set, value_dim, tile.sinks ? tile.sinks + row % tile.n_heads : nullptr, total,
               &out[size_t{row} * value_dim]);
  }
  return out;
}

// Head h of token t.
std::vector<double> attend_in_double(const Cache& cache, const Query& query, size_t t, size_t h) {
  const size_t key_dim = cache.kv.key_dim, value_dim = cache.kv.value_dim;
  const float* q = &query.q[(t * query.n_heads + h) * key_dim];
  std::vector<double> weights;
  double largest = query.sinks.empty() ? -INFINITY : static_cast<double>(query.sinks[h]);
  for (size_t p = query.first[t]; p <= query.last[t]; ++p) {
    double score = 0;
    for (size_t d = 0; d < key_dim; ++d)
      score += static_cast<double>(q[d]) * cache.k[p][query.kv_head * key_dim + d];
    score *= query.scale;
    if (query.softcap != 0) score = query.softcap * std::tanh(score / query.softcap);
    weights.push_back(score);
    largest = std::max(largest, score);
  }
  double sum = query.sinks.empty() ? 0 : std::exp(query.sinks[h] - largest);
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  std::vector<double> out(value_dim);
  for (size_t p = query.first[t]; p <= query.last[t]; ++p)
    for (size_t d = 0; d < value_dim; ++d)
      out[d] += weights[p - query.first[t]] / sum * cache.v[p][query.kv_head * value_dim + d];
  return out;
}

class Attention : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const KernelSet& set_ = kernels(GetParam());

  void expect_right(const Cache& cache, Query query, float deviation = 1.0F,
                    double tolerance = 5e-6) {
    std::mt19937 random(query.last[0] + 17);
    query.q =
        random_floats(query.first.size() * query.n_heads * cache.kv.key_dim, random, deviation);
    for (const AttendWay way : {AttendWay::plain, AttendWay::flash}) {
      const auto out = attend(set_, cache, query, way);
      for (size_t t = 0; t < query.first.size(); ++t)
        for (size_t h = 0; h < query.n_heads; ++h) {
          const auto expected = attend_in_double(cache, query, t, h);
          for (size_t d = 0; d < expected.size(); ++d)
            ASSERT_NEAR(out[(t * query.n_heads + h) * expected.size() + d], expected[d], tolerance)
                << (way == AttendWay::plain ? "plain" : "flash") << ", element " << d
                << ", positions " << query.first[t] << ".." << query.last[t];
        }
    }
  }
};

TEST_P(Attention, MatchesDoubleAtBlockAndChunkBorders) {
  for (const halogen_type type : {HALOGEN_F16, HALOGEN_F32}) {
    const Cache cache(set_, {.key_type = type, .value_type = type, .kv_heads = 2, .length = 600});
    for (const uint32_t last :
         {0, 1, 7, 15, 16, 31, 32, 33, 63, 64, 127, 254, 255, 256, 257, 511, 512, 599})
      for (const uint32_t head : {0, 1})
        expect_right(cache, {.kv_head = head, .n_heads = 4, .last = {last}});
  }
}

TEST_P(Attention, MatchesDoubleInWindows) {
  const Cache cache(set_, {.length = 700});
  for (const uint32_t first : {1, 15, 16, 63, 64, 65, 250, 256, 300})
    for (const uint32_t length : {1, 2, 16, 60, 300})
      expect_right(cache, {.n_heads = 2, .first = {first}, .last = {first + length - 1}});
}

TEST_P(Attention, MatchesDoubleForEveryGroupSize) {
  const Cache cache(set_, {.block_tokens = 32, .key_dim = 128, .value_dim = 128, .length = 100});
  for (uint32_t heads = 1; heads <= 17; ++heads)
    expect_right(cache, {.n_heads = heads, .last = {99}});
}

TEST_P(Attention, MatchesDoubleForOddSizes) {
  for (const halogen_type type : {HALOGEN_F16, HALOGEN_F32})
    for (const uint32_t block_tokens : {1, 3, 64, 100}) {
      const Cache cache(set_, {.key_type = type,
                               .value_type = type,
                               .block_tokens = block_tokens,
                               .kv_heads = 3,
                               .key_dim = 20,
                               .value_dim = 13,
                               .length = 300});
      expect_right(cache, {.kv_head = 2, .n_heads = 5, .last = {299}});
    }
}

TEST_P(Attention, MatchesDoubleForTilesOfTokens) {
  const Cache cache(set_, {.length = 600});
  Query causal = {.n_heads = 3, .first = {}, .last = {}}, windowed = causal;
  for (uint32_t token = 0; token < 21; ++token) {
    causal.first.push_back(0);
    causal.last.push_back(500 + token);
    windowed.first.push_back(500 + token - 269);
    windowed.last.push_back(500 + token);
  }
  expect_right(cache, causal);
  expect_right(cache, windowed);
}

TEST_P(Attention, MatchesDoubleWithSoftcapAndSinks) {
  const Cache cache(set_, {.key_type = HALOGEN_F32, .value_type = HALOGEN_F32, .length = 300});
  for (const uint32_t last : {149, 299}) {
    expect_right(cache, {.n_heads = 3, .last = {last}, .softcap = 5.0F}, 4.0F);
    expect_right(cache, {.n_heads = 3, .last = {last}, .sinks = {0.0F, 3.0F, -40.0F}});
    expect_right(cache,
                 {.n_heads = 3, .last = {last}, .softcap = 2.0F, .sinks = {50.0F, 1.0F, 9.0F}});
  }
}

// Scores far apart: the running maximum rises by hundreds between chunks and the rest underflows.
// Scores of hundreds are off by some 1e-5 in 32 bits.
TEST_P(Attention, MatchesDoubleForPeakedScores) {
  const Cache cache(set_, {.key_type = HALOGEN_F32, .value_type = HALOGEN_F32, .length = 1000});
  for (const uint32_t last : {63, 500, 999})
    expect_right(cache, {.n_heads = 2, .last = {last}, .scale = 1.0F}, 12.0F, 3e-5);
}

TEST_P(Attention, MatchesDoubleOnQuantisedKeysAndValues) {
  const halogen_type types[] = {HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0};
  for (const halogen_type key_type : types)
    for (const halogen_type value_type : types) {
      const Cache cache(set_, {.key_type = key_type,
                               .value_type = value_type,
                               .kv_heads = 2,
                               .key_dim = 96,
                               .value_dim = 64,
                               .length = 333});
      expect_right(cache, {.kv_head = 1, .n_heads = 5, .last = {332}});
      expect_right(cache, {.n_heads = 2, .first = {3, 4, 5}, .last = {330, 331, 332}});
    }
}

// Groups of K that blocks cut off, in every type.
TEST_P(Attention, MatchesDoubleForBlocksThatAreNotWholeGroups) {
  for (const halogen_type type : {HALOGEN_F32, HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0})
    for (const uint32_t block_tokens : {1, 5, 8, 24, 40}) {
      const Cache cache(set_, {.key_type = type,
                               .value_type = type,
                               .block_tokens = block_tokens,
                               .kv_heads = 2,
                               .length = 200});
      for (const uint32_t last : {4, 63, 199})
        expect_right(cache, {.kv_head = 1, .n_heads = 7, .first = {last / 9}, .last = {last}});
    }
}

// A group that is filled in part holds what was there before, which may be no number.
TEST_P(Attention, DoesNotSeeWhatAGroupHeldBefore) {
  for (const halogen_type type : {HALOGEN_F32, HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0})
    for (const uint32_t block_tokens : {8, 16, 24, 64}) {
      const CacheOptions options = {
          .key_type = type, .value_type = type, .block_tokens = block_tokens, .length = 75};
      const Cache clean(set_, options);
      Cache stale(set_, options);
      stale.kv.keys = stale.key_bytes.data();
      stale.kv.values = stale.value_bytes.data();
      const std::vector<float> nan(64, std::nanf(""));
      const uint32_t end = (75 + block_tokens - 1) / block_tokens * block_tokens;
      for (uint32_t p = 75; p < end; ++p) stale.store(set_, p, nan, nan);
      for (const uint32_t heads : {2U, 30U}) {
        Query query = {.n_heads = heads, .first = {0, 0}, .last = {73, 74}};
        std::mt19937 random(9);
        query.q = random_floats(size_t{2} * heads * 64, random);
        for (const AttendWay way : {AttendWay::plain, AttendWay::flash})
          EXPECT_EQ(attend(set_, stale, query, way), attend(set_, clean, query, way));
      }
    }
}

TEST_P(Attention, OfNothingIsZero) {
  const Cache cache(set_, {.length = 16});
  const Query query = {.first = {5}, .last = {4}, .q = std::vector<float>(64, 1.0F)};
  for (const AttendWay way : {AttendWay::plain, AttendWay::flash})
    EXPECT_EQ(attend(set_, cache, query, way), std::vector<float>(64, 0.0F));
}

TEST_P(Attention, HasTheSameBitsForAnyBlockSizeAndGrouping) {
  for (const AttendWay way : {AttendWay::plain, AttendWay::flash}) {
    std::optional<std::vector<float>> expected;
    std::mt19937 random(3);
    Query query = {.n_heads = 7, .first = {3}, .last = {580}};
    query.q = random_floats(size_t{7} * 64, random);
    for (const uint32_t block_tokens : {1, 8, 16, 48, 256}) {
      const Cache cache(set_, {.block_tokens = block_tokens, .length = 581});
      const auto out = attend(set_, cache, query, way);
      if (!expected) expected = out;
      EXPECT_EQ(out, *expected) << block_tokens;
      for (uint32_t h = 0; h < 7; ++h) {
        Query alone = query;
        alone.n_heads = 1;
        alone.q.assign(&query.q[h * 64], &query.q[h * 64] + 64);
        EXPECT_EQ(attend(set_, cache, alone, way),
                  std::vector<float>(&out[h * 64], &out[h * 64] + 64));
      }
    }
  }
}

// Token by token, in tiles and in chunks that are folded later; with and without a window.
TEST_P(Attention, HasTheSameBitsForAnyTile) {
  const Cache cache(set_, {.value_type = HALOGEN_Q8_0, .length = 600});
  for (const uint32_t window : {1000U, 300U, 70U})
    for (const AttendWay way : {AttendWay::plain, AttendWay::flash}) {
      Query query = {.n_heads = 2, .first = {}, .last = {}, .sinks = {1.0F, -2.0F}};
      for (uint32_t position = 490; position < 530; ++position) {
        query.first.push_back(position >= window ? position - window + 1 : 0);
        query.last.push_back(position);
      }
      std::mt19937 random(4);
      query.q = random_floats(query.first.size() * 2 * 64, random);
      const auto out = attend(set_, cache, query, way);
      if (way == AttendWay::flash) {
        EXPECT_EQ(attend_split(set_, cache, query), out) << window;
      }
      for (size_t t = 0; t < query.first.size(); ++t) {
        const auto at = static_cast<ptrdiff_t>(t * 2 * 64);
        Query alone = query;
        alone.first = {query.first[t]};
        alone.last = {query.last[t]};
        alone.q.assign(query.q.begin() + at, query.q.begin() + at + 2 * 64);
        EXPECT_EQ(attend(set_, cache, alone, way),
                  std::vector<float>(out.begin() + at, out.begin() + at + 2 * 64))
            << "window " << window << ", token " << t;
      }
    }
}

// Blocks before the window and behind the context need not even exist.
TEST_P(Attention, ReadsOnlyTheWindow) {
  Cache cache(set_, {.length = 640});
  Query query = {.n_heads = 3, .first = {297, 298}, .last = {401, 402}};
  std::mt19937 random(5);
  query.q = random_floats(size_t{2} * 3 * 64, random);
  for (const AttendWay way : {AttendWay::plain, AttendWay::flash}) {
    const auto expected = attend(set_, cache, query, way);
    Cache other = cache;
    other.kv.keys = other.key_bytes.data();
    other.kv.values = other.value_bytes.data();
    const std::vector<float> nan(64, std::nanf(""));
    for (uint32_t p = 0; p < 640; ++p)
      if (p < 297 || p > 402) other.store(set_, p, nan, nan);
    for (uint32_t b = 0; b < other.table.size(); ++b)
      if (b < 297 / 16 || b > 402 / 16) other.table[b] = kNoBlock;
    EXPECT_EQ(attend(set_, other, query, way), expected);
  }
}

// A token's values that are infinite or no numbers stay with those who attend to it.
TEST_P(Attention, DoesNotLeakFromLaterTokensOfATile) {
  Cache cache(set_, {.length = 100});
  Query query = {.n_heads = 2, .first = {0, 0, 0}, .last = {97, 98, 99}};
  std::mt19937 random(6);
  query.q = random_floats(size_t{3} * 2 * 64, random);
  for (const AttendWay way : {AttendWay::plain, AttendWay::flash}) {
    const auto expected = attend(set_, cache, query, way);
    Cache other = cache;
    other.kv.keys = other.key_bytes.data();
    other.kv.values = other.value_bytes.data();
    std::vector<float> value(64, std::numeric_limits<float>::infinity());
    value[3] = std::nanf("");
    other.store(set_, 99, value, value);
    const auto out = attend(set_, other, query, way);
    EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 256),
              std::vector<float>(expected.begin(), expected.begin() + 256));
    EXPECT_TRUE(std::isnan(out[256 + 3]));
  }
}

// --- what the pool keeps

TEST_P(Attention, StoresTheNearestCodes) {
  const float kSteps[] = {127.0F, 8.0F};
  const halogen_type types[] = {HALOGEN_Q8_0, HALOGEN_Q4_0};
  for (size_t i = 0; i < 2; ++i) {
    const CacheOptions options = {.key_type = types[i], .value_type = types[i], .length = 50};
    std::mt19937 random(1);  // as the cache draws
    const Cache cache(set_, options);
    for (uint32_t p = 0; p < 50; ++p) {
      const auto key = random_floats(64, random);
      random_floats(64, random);
      for (size_t block = 0; block < 64; block += 32) {
        float most = 0;
        for (size_t j = block; j < block + 32; ++j)
          if (std::abs(key[j]) > std::abs(most)) most = key[j];
        // Half a step, and the rounding of the step to 16 bits; what lies opposite to the largest
        // element and beyond the seventh step of Q4_0 is a step off at the most.
        const double step = std::abs(most) / kSteps[i];
        for (size_t j = block; j < block + 32; ++j) {
          const bool cut = types[i] == HALOGEN_Q4_0 && key[j] / most < -7.5F / 8;
          EXPECT_NEAR(cache.k[p][j], key[j], (cut ? 1.0 : 0.5) * step + std::abs(key[j]) * 0x1p-11)
              << "element " << j;
        }
      }
    }
  }
}

TEST_P(Attention, StoresTheSameBytesInEverySet) {
  const KernelSet& portable = kernels(InstructionSet::kPortable);
  for (const halogen_type type : {HALOGEN_F32, HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0}) {
    const CacheOptions options = {
        .key_type = type, .value_type = type, .kv_heads = 2, .length = 40};
    EXPECT_EQ(Cache(set_, options).key_bytes, Cache(portable, options).key_bytes);
    EXPECT_EQ(Cache(set_, options).value_bytes, Cache(portable, options).value_bytes);
  }
}

TEST_P(Attention, StoresWhatIsNotFiniteAsSuch) {
  for (const halogen_type type : {HALOGEN_Q8_0, HALOGEN_Q4_0}) {
    Cache cache(set_, {.key_type = type, .value_type = type, .length = 1});
    std::vector<float> zeros(64, 0.0F), with_nan = zeros, with_infinity = zeros;
    with_nan[5] = std::nanf("");
    with_infinity[40] = -std::numeric_limits<float>::infinity();
    cache.store(set_, 0, zeros, with_nan);
    EXPECT_EQ(cache.k[0], std::vector<double>(64, 0.0));
    EXPECT_TRUE(std::isnan(cache.v[0][5]));
    EXPECT_EQ(cache.v[0][40], 0.0);
    cache.store(set_, 0, with_infinity, zeros);
    EXPECT_FALSE(std::isfinite(cache.k[0][40]));
    EXPECT_EQ(cache.k[0][5], 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Attention, ::testing::ValuesIn(available_sets()),
                         [](const auto& set) { return instruction_set_name(set.param); });

}  // namespace
}  // namespace halogen::cpu::testing
