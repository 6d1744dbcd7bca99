// The linear kernels of every weight type and instruction set: right to within F32 rounding of what
// the (quantised) operands say, and the same bits however the work is cut.
#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "plugins/cpu/kernels/interleave.h"
#include "tests/unit/cpu_kernels/random_blocks.h"

namespace halogen::cpu::testing {
namespace {

struct Problem {
  halogen_type type;
  size_t rows;
  size_t k;
  size_t tokens;
  std::vector<uint8_t> weights;
  std::vector<float> x;
  Activations activations;

  Problem(const KernelSet& set, halogen_type weight_type, size_t n_rows, size_t columns,
          size_t n_tokens, bool exact, uint32_t seed)
      : type(weight_type), rows(n_rows), k(columns), tokens(n_tokens) {
    std::mt19937 random(seed);
    weights = random_weights(type, rows * k, random);
    x = random_floats(tokens * k, random);
    activations =
        make_activations(set, exact ? ActivationFormat::kF32 : activation_format(type), x, k);
  }

  LinearCall call(float* y) const {
    return {.weights = weights.data(),
            .row_bytes = halogen_row_bytes(type, k),
            .row_begin = 0,
            .row_end = rows,
            .k = k,
            .activations = activations.bytes.data(),
            .activation_stride_bytes = activations.stride_bytes,
            .n_tokens = tokens,
            .y = y,
            .y_stride = rows};
  }

  // What the kernel sees of token t, in double.
  std::vector<double> activation_values(size_t t, bool exact) const {
    std::vector<double> values(k);
    const uint8_t* from = &activations.bytes[t * activations.stride_bytes];
    const auto format = exact ? ActivationFormat::kF32 : activation_format(type);
    for (size_t j = 0; j < k; ++j) {
      if (format == ActivationFormat::kF32) {
        values[j] = x[t * k + j];
      } else if (format == ActivationFormat::kQ8Block) {
        const Q8Block& block = reinterpret_cast<const Q8Block*>(from)[j / 32];
        values[j] = static_cast<double>(block.scale) * block.q[j % 32];
      } else {
        const Q8SuperBlock& block = reinterpret_cast<const Q8SuperBlock*>(from)[j / 256];
        values[j] = static_cast<double>(block.scale) * block.q[j % 256];
      }
    }
    return values;
  }
};

std::vector<float> run(const KernelSet& set, const Problem& problem, bool exact) {
  std::vector<float> y(problem.tokens * problem.rows, std::nanf(""));
  LinearKernel* kernel = exact ? set.linear_exact(problem.type) : set.linear(problem.type);
  kernel(problem.call(y.data()));
  return y;
}

// Instruction set, type, exact.
class Linear : public ::testing::TestWithParam<std::tuple<InstructionSet, halogen_type, bool>> {
 protected:
  const KernelSet& set_ = kernels(std::get<0>(GetParam()));
  const halogen_type type_ = std::get<1>(GetParam());
  const bool exact_ = std::get<2>(GetParam());
  const size_t block_ = halogen_type_find(type_)->block_elements;

  std::vector<size_t> columns() const {
    if (block_ == 256) return {256, 512, 768, 4096};
    if (block_ == 32) return {32, 64, 96, 160, 1024, 4096};
    return {1, 7, 8, 31, 32, 100, 1000, 4096};
  }
};

TEST_P(Linear, MatchesDoubleArithmeticOnTheSameOperands) {
  for (const size_t k : columns())
    for (const size_t tokens : {1, 2, 3, 4, 5, 7, 9}) {
      const Problem problem(set_, type_, 7, k, tokens, exact_, static_cast<uint32_t>(k + tokens));
      const std::vector<float> y = run(set_, problem, exact_);
      std::vector<float> row(k);
      for (size_t t = 0; t < tokens; ++t) {
        const std::vector<double> x = problem.activation_values(t, exact_);
        for (size_t r = 0; r < problem.rows; ++r) {
          ASSERT_TRUE(set_.dequantise(type_, &problem.weights[r * halogen_row_bytes(type_, k)], k,
                                      row.data()));
          double expected = 0;
          double magnitude = 0;
          for (size_t j = 0; j < k; ++j) {
            expected += row[j] * x[j];
            magnitude += std::fabs(row[j] * x[j]);
          }
          EXPECT_NEAR(y[t * problem.rows + r], expected, 1e-6 * magnitude)
              << "k " << k << " token " << t << " of " << tokens << " row " << r;
        }
      }
    }
}

TEST_P(Linear, GivesATokenTheSameBitsInEveryBatch) {
  for (const size_t k : {columns()[2], columns().back()}) {
    const Problem problem(set_, type_, 13, k, 11, exact_, 5);
    const std::vector<float> together = run(set_, problem, exact_);
    LinearKernel* kernel = exact_ ? set_.linear_exact(type_) : set_.linear(type_);
    for (size_t tokens = 1; tokens <= problem.tokens; ++tokens)
      for (size_t first = 0; first + tokens <= problem.tokens; first += tokens) {
        std::vector<float> y(tokens * problem.rows);
        LinearCall call = problem.call(y.data());
        call.activations = &problem.activations.bytes[first * problem.activations.stride_bytes];
        call.n_tokens = tokens;
        kernel(call);
        EXPECT_EQ(std::memcmp(y.data(), &together[first * problem.rows], y.size() * sizeof(float)),
                  0)
            << tokens << " tokens from " << first;
      }
  }
}

TEST_P(Linear, GivesARowTheSameBitsInEverySplit) {
  const size_t k = columns().back();
  const Problem problem(set_, type_, 13, k, 6, exact_, 6);
  const std::vector<float> together = run(set_, problem, exact_);
  LinearKernel* kernel = exact_ ? set_.linear_exact(type_) : set_.linear(type_);
  for (const size_t step : {1, 2, 3, 5}) {
    std::vector<float> y(together.size(), -1.0f);
    for (size_t row = 0; row < problem.rows; row += step) {
      LinearCall call = problem.call(y.data());
      call.row_begin = row;
      call.row_end = std::min(problem.rows, row + step);
      kernel(call);
    }
    EXPECT_EQ(std::memcmp(y.data(), together.data(), y.size() * sizeof(float)), 0) << step;
  }
}

TEST_P(Linear, TakesAndPutsTheRowsItIsTold) {
  const size_t k = columns()[0];
  const Problem problem(set_, type_, 3, k, 5, exact_, 8);
  const std::vector<float> all = run(set_, problem, exact_);
  const uint32_t in[3] = {4, 0, 2};
  const uint32_t out[3] = {1, 6, 0};
  std::vector<float> y(7 * problem.rows, -1.0f);
  LinearCall call = problem.call(y.data());
  call.n_tokens = 3;
  call.activation_rows = in;
  call.output_rows = out;
  (exact_ ? set_.linear_exact(type_) : set_.linear(type_))(call);
  std::vector<float> expected(y.size(), -1.0f);
  for (size_t t = 0; t < 3; ++t)
    std::copy_n(&all[in[t] * problem.rows], problem.rows, &expected[out[t] * problem.rows]);
  EXPECT_EQ(y, expected);
}

TEST_P(Linear, NonFiniteActivationsGiveNaNForTheirTokenAlone) {
  const size_t k = columns().back();
  Problem problem(set_, type_, 3, k, 5, exact_, 9);
  problem.x[2 * k + k / 2] = std::nanf("");
  problem.activations = make_activations(
      set_, exact_ ? ActivationFormat::kF32 : activation_format(type_), problem.x, k);
  const std::vector<float> y = run(set_, problem, exact_);
  for (size_t t = 0; t < 5; ++t)
    for (size_t r = 0; r < 3; ++r) EXPECT_EQ(std::isnan(y[t * 3 + r]), t == 2);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Linear,
                         ::testing::Combine(::testing::ValuesIn(available_sets()),
                                            ::testing::ValuesIn(all_types()), ::testing::Bool()),
                         [](const auto& test) {
                           return std::string(instruction_set_name(std::get<0>(test.param))) + "_" +
                                  halogen_type_find(std::get<1>(test.param))->name +
                                  (std::get<2>(test.param) ? "_exact" : "");
                         });

// Rows and tokens beside whole panels and tiles; columns beside whole panels.
TEST(LinearOfAllSets, AgreesToTheLastBit) {
  const KernelSet& portable = kernels(InstructionSet::kPortable);
  for (const halogen_type type : kQuantisedTypes)
    for (const size_t blocks : {1, 5, 19, 67}) {
      const size_t k = blocks * halogen_type_find(type)->block_elements;
      const Problem problem(portable, type, 37, k, 17, false, 3);
      const std::vector<float> expected = run(portable, problem, false);
      for (const InstructionSet id : available_sets())
        for (const size_t tokens : {1, 3, 8, 17}) {
          std::vector<float> y(expected.size());
          for (size_t first = 0; first < problem.tokens; first += tokens) {
            LinearCall call = problem.call(&y[first * problem.rows]);
            call.activations = &problem.activations.bytes[first * problem.activations.stride_bytes];
            call.n_tokens = std::min(tokens, problem.tokens - first);
            kernels(id).linear(type)(call);
          }
          EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)), 0)
              << halogen_type_find(type)->name << " " << kernels(id).name << " k " << k << ", "
              << tokens << " tokens at a time";
        }
    }
}

// Enough tokens for whatever way a kernel has for many, and columns beside whole panels.
TEST(LinearOfManyTokens, GivesEachTheBitsThatItHasAlone) {
  for (const InstructionSet id : available_sets())
    for (const halogen_type type : kQuantisedTypes) {
      const KernelSet& set = kernels(id);
      const size_t blocks = halogen_type_find(type)->block_elements == 32 ? 67 : 11;
      const Problem problem(set, type, 17, blocks * halogen_type_find(type)->block_elements, 521,
                            false, 3);
      const std::vector<float> together = run(set, problem, false);
      std::vector<float> alone(together.size());
      for (size_t t = 0; t < problem.tokens; ++t) {
        LinearCall call = problem.call(&alone[t * problem.rows]);
        call.activations = &problem.activations.bytes[t * problem.activations.stride_bytes];
        call.n_tokens = 1;
        set.linear(type)(call);
      }
      EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)), 0)
          << halogen_type_find(type)->name << " " << set.name;
    }
}

std::vector<uint8_t> interleaved(const Interleaving& to, const std::vector<uint8_t>& weights) {
  std::vector<uint8_t> panels(to.bytes());
  for (size_t panel = 0; panel < to.panels(); ++panel)
    interleave_panel(to, weights.data(), panel, &panels[panel * to.panel_bytes()]);
  return panels;
}

// A call for the panels that begin with rows `begin` to `end`.
TEST(LinearOfInterleavedWeights, GivesTheBitsOfTheFilesLayout) {
  for (const InstructionSet id : available_sets())
    for (const halogen_type type : kQuantisedTypes)
      for (const size_t blocks : {1, 5, 19, 67}) {
        const KernelSet& set = kernels(id);
        if (set.panel_rows == 0) continue;
        const size_t k = blocks * halogen_type_find(type)->block_elements;
        const Problem problem(set, type, 37, k, 17, false, 3);
        const std::vector<float> expected = run(set, problem, false);
        const std::vector<uint8_t> panels =
            interleaved({type, problem.rows, k, set.panel_rows}, problem.weights);
        for (const size_t tokens : {1, 3, 8, 17})
          for (const size_t rows : {set.panel_rows, problem.rows}) {
            std::vector<float> y(expected.size());
            for (size_t first = 0; first < problem.tokens; first += tokens)
              for (size_t row = 0; row < problem.rows; row += rows) {
                LinearCall call = problem.call(&y[first * problem.rows]);
                call.activations =
                    &problem.activations.bytes[first * problem.activations.stride_bytes];
                call.n_tokens = std::min(tokens, problem.tokens - first);
                call.weights = panels.data();
                call.interleaved = true;
                call.row_begin = row;
                call.row_end = std::min(problem.rows, row + rows);
                set.linear(type)(call);
              }
            EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)), 0)
                << halogen_type_find(type)->name << " " << set.name << " k " << k << ", " << tokens
                << " tokens and " << rows << " rows at a time";
          }
      }
}

// The largest codes with the largest activations: the 16-bit sums of pairs must not saturate.
TEST(LinearExtremes, DoNotSaturate) {
  for (const InstructionSet id : available_sets())
    for (const halogen_type type : kQuantisedTypes)
      for (const int code : {0x00, 0x80, 0x7f, 0xff})
        for (const float sign : {1.0f, -1.0f}) {
          const KernelSet& set = kernels(id);
          const size_t k = 512;
          std::mt19937 random(4);
          Problem problem(set, type, 1, k, 1, false, 4);
          const std::vector<uint8_t> scales = problem.weights;
          const size_t block_bytes = halogen_type_find(type)->block_bytes;
          // Every byte the same, except the floats of the block.
          for (size_t i = 0; i < problem.weights.size(); i += block_bytes) {
            std::memset(&problem.weights[i], code, block_bytes);
            size_t at = 0;
            size_t size = 2;
            if (type == HALOGEN_Q2_K) at = offsetof(BlockQ2_K, scale), size = 4;
            if (type == HALOGEN_Q3_K) at = offsetof(BlockQ3_K, scale);
            if (type == HALOGEN_Q6_K) at = offsetof(BlockQ6_K, scale);
            if (type == HALOGEN_Q4_K || type == HALOGEN_Q5_K || type == HALOGEN_Q4_1 ||
                type == HALOGEN_Q5_1)
              size = 4;
            if (type == HALOGEN_MXFP4) size = 1;
            std::memcpy(&problem.weights[i + at], &scales[i + at], size);
          }
          problem.x.assign(k, sign);
          problem.activations = make_activations(set, activation_format(type), problem.x, k);
          std::vector<float> row(k);
          ASSERT_TRUE(set.dequantise(type, problem.weights.data(), k, row.data()));
          double expected = 0;
          double magnitude = 0;
          for (const float w : row) {
            expected += static_cast<double>(w) * sign;
            magnitude += std::fabs(w);
          }
          EXPECT_NEAR(run(set, problem, false)[0], expected, 1e-6 * magnitude)
              << halogen_type_find(type)->name << " " << set.name << " " << code;
        }
}

}  // namespace
}  // namespace halogen::cpu::testing
