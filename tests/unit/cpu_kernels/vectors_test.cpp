// Norms, rotary embedding, activation functions and reductions against double arithmetic, and the
// promise that every instruction set gives the same bits.
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tests/unit/cpu_kernels/random_blocks.h"

namespace halogen::cpu::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class Vectors : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const KernelSet& set_ = kernels(GetParam());
  const KernelSet& portable_ = kernels(InstructionSet::kPortable);
  std::mt19937 random_{11};

  using Function = void (*KernelSet::*)(const float*, size_t, float*);

  // The largest relative error over -range..range, and the portable bits.
  double worst(Function function, double range, const std::function<double(double)>& truth) {
    std::vector<float> x;
    for (double value = -range; value <= range; value += range / 100000)
      x.push_back(static_cast<float>(value));
    std::vector<float> y(x.size());
    std::vector<float> portable(x.size());
    (set_.*function)(x.data(), x.size(), y.data());
    (portable_.*function)(x.data(), x.size(), portable.data());
    EXPECT_EQ(std::memcmp(y.data(), portable.data(), y.size() * sizeof(float)), 0);
    double largest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = truth(x[i]);
      if (std::fabs(expected) < 1.2e-38) continue;
      largest = std::max(largest, std::fabs(y[i] / expected - 1));
    }
    return largest;
  }
};

TEST_P(Vectors, FunctionsKeepTheirDocumentedErrors) {
  EXPECT_LT(worst(&KernelSet::exp, 87.0, [](double x) { return std::exp(x); }), 2e-7);
  EXPECT_LT(worst(&KernelSet::exp, 1.0, [](double x) { return std::exp(x); }), 2e-7);
  EXPECT_LT(worst(&KernelSet::tanh, 20.0, [](double x) { return std::tanh(x); }), 4e-7);
  EXPECT_LT(worst(&KernelSet::tanh, 1.0, [](double x) { return std::tanh(x); }), 4e-7);
  EXPECT_LT(worst(&KernelSet::sigmoid, 80.0, [](double x) { return 1 / (1 + std::exp(-x)); }),
            5e-7);
  EXPECT_LT(worst(&KernelSet::silu, 80.0, [](double x) { return x / (1 + std::exp(-x)); }), 5e-7);
  EXPECT_LT(worst(&KernelSet::relu, 80.0, [](double x) { return std::fmax(x, 0); }), 1e-12);
  // The argument of the exponential grows like x^3, and so does what its rounding does to the
  // result.
  const auto gelu = [](double x) {
    return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  EXPECT_LT(worst(&KernelSet::gelu_tanh, 1.0, gelu), 1e-6);
  EXPECT_LT(worst(&KernelSet::gelu_tanh, 5.0, gelu), 5e-6);
}

TEST_P(Vectors, GeluErfMatchesDouble) {
  const auto x = random_floats(1003, random_, 2.0f);
  std::vector<float> y(x.size());
  set_.gelu_erf(x.data(), x.size(), y.data());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(y[i], 0.5 * x[i] * (1 + std::erf(x[i] / std::sqrt(2.0))), 3e-7 * std::fabs(x[i]));
}

TEST_P(Vectors, ExpHandlesTheEnds) {
  const float x[] = {0.0f,   -0.0f,   88.7f,   88.8f,  100.0f,     kInfinity,
                     -88.0f, -103.0f, -110.0f, -1e30f, -kInfinity, kNaN};
  float y[12];
  set_.exp(x, 12, y);
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], 1.0f);
  EXPECT_NEAR(y[2] / std::exp(88.7), 1.0, 1e-5);
  EXPECT_EQ(y[3], kInfinity);
  EXPECT_EQ(y[4], kInfinity);
  EXPECT_EQ(y[5], kInfinity);
  EXPECT_NEAR(y[6], std::exp(-88.0), 2e-45);
  EXPECT_NEAR(y[7], std::exp(-103.0), 2e-45);
  EXPECT_EQ(y[8], 0.0f);
  EXPECT_EQ(y[9], 0.0f);
  EXPECT_EQ(y[10], 0.0f);
  EXPECT_TRUE(std::isnan(y[11]));
}

TEST_P(Vectors, FunctionsPassNaNAndSaturate) {
  const float x[] = {kNaN, kInfinity, -1000.0f, 1000.0f};
  float y[4];
  set_.tanh(x, 4, y);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 1.0f);
  EXPECT_EQ(y[2], -1.0f);
  set_.silu(x, 4, y);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 1000.0f);
  set_.softcap(x, 30.0f, 4, y);
  EXPECT_EQ(y[1], 30.0f);
  EXPECT_EQ(y[2], -30.0f);
}

TEST_P(Vectors, NormsMatchDouble) {
  for (const size_t n : {1, 5, 8, 64, 129, 4096}) {
    const auto x = random_floats(n, random_, 3.0f);
    const auto weight = random_floats(n, random_);
    const auto bias = random_floats(n, random_);
    double squares = 0;
    double mean = 0;
    for (const float v : x) {
      squares += static_cast<double>(v) * v;
      mean += v / static_cast<double>(n);
    }
    double variance = 0;
    for (const float v : x) variance += (v - mean) * (v - mean) / static_cast<double>(n);
    const float epsilon = 1e-5f;
    const double rms = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    const double deviation = 1 / std::sqrt(variance + epsilon);

    std::vector<float> y(n);
    std::vector<float> portable(n);
    set_.rms_norm(x.data(), weight.data(), epsilon, n, y.data());
    portable_.rms_norm(x.data(), weight.data(), epsilon, n, portable.data());
    EXPECT_EQ(y, portable);
    for (size_t i = 0; i < n; ++i)
      EXPECT_NEAR(y[i], x[i] * rms * weight[i], 3e-7 * std::fabs(x[i] * rms * weight[i]));
    set_.rms_norm(x.data(), nullptr, epsilon, n, y.data());
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], x[i] * rms, 3e-7 * std::fabs(x[i] * rms));

    set_.layer_norm(x.data(), weight.data(), bias.data(), epsilon, n, y.data());
    portable_.layer_norm(x.data(), weight.data(), bias.data(), epsilon, n, portable.data());
    EXPECT_EQ(y, portable);
    for (size_t i = 0; i < n; ++i)
      EXPECT_NEAR(y[i], (x[i] - mean) * deviation * weight[i] + bias[i], 2e-6);
  }
}

TEST_P(Vectors, RopeTurnsThePairsOfEachConvention) {
  constexpr size_t kHeads = 3;
  constexpr size_t kStride = 20;
  constexpr size_t kRotary = 16;  // of 18 elements per head
  float cosine[kRotary / 2];
  float sine[kRotary / 2];
  for (size_t i = 0; i < kRotary / 2; ++i) {
    cosine[i] = std::cos(static_cast<float>(i) + 0.5f);
    sine[i] = std::sin(static_cast<float>(i) + 0.5f);
  }
  const auto x = random_floats(kHeads * kStride, random_);
  for (const RopePairing pairing : {RopePairing::kHalves, RopePairing::kAdjacent}) {
    auto expected = x;
    for (size_t h = 0; h < kHeads; ++h)
      for (size_t i = 0; i < kRotary / 2; ++i) {
        const bool halves = pairing == RopePairing::kHalves;
        const size_t a = h * kStride + (halves ? i : 2 * i);
        const size_t b = h * kStride + (halves ? i + kRotary / 2 : 2 * i + 1);
        expected[a] = x[a] * cosine[i] - x[b] * sine[i];
        expected[b] = x[a] * sine[i] + x[b] * cosine[i];
      }
    auto y = x;
    auto portable = x;
    set_.rope(y.data(), kHeads, kStride, kRotary, cosine, sine, pairing);
    portable_.rope(portable.data(), kHeads, kStride, kRotary, cosine, sine, pairing);
    EXPECT_EQ(y, portable);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-6) << i;
  }
}

TEST_P(Vectors, ElementwiseOperationsDoWhatTheySay) {
  const size_t n = 77;
  const auto a = random_floats(n, random_);
  const auto b = random_floats(n, random_);
  std::vector<float> y(n);
  std::vector<float> gate(n);
  set_.add(a.data(), b.data(), n, y.data());
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], a[i] + b[i]);
  set_.multiply(a.data(), b.data(), n, y.data());
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], a[i] * b[i]);
  set_.scale(a.data(), 3.0f, n, y.data());
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], a[i] * 3.0f);
  y = b;
  set_.add_scaled(a.data(), 2.0f, n, y.data());
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], b[i] + 2.0f * a[i]);
  set_.silu(a.data(), n, gate.data());
  set_.swiglu(a.data(), b.data(), n, y.data());
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], gate[i] * b[i]);
  set_.gelu_tanh(a.data(), n, gate.data());
  set_.geglu(a.data(), b.data(), n, y.data());
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], gate[i] * b[i]);
}

TEST_P(Vectors, SoftmaxMatchesDouble) {
  for (const size_t n : {1, 3, 8, 100, 1000}) {
    auto x = random_floats(n, random_, 5.0f);
    x[0] = 200.0f;  // exp alone would overflow
    std::vector<float> y(n);
    std::vector<float> portable(n);
    set_.softmax(x.data(), n, y.data());
    portable_.softmax(x.data(), n, portable.data());
    EXPECT_EQ(y, portable);
    double sum = 0;
    for (const float v : x) sum += std::exp(static_cast<double>(v) - 200.0);
    for (size_t i = 0; i < n; ++i)
      EXPECT_NEAR(y[i], std::exp(static_cast<double>(x[i]) - 200.0) / sum, 1e-6);
  }
}

TEST_P(Vectors, ArgmaxTakesTheFirstLargestAndNoNaN) {
  const float several[] = {1.0f, 5.0f, kNaN, 5.0f, -3.0f};
  EXPECT_EQ(set_.argmax(several, 5), 1u);
  const float nan_first[] = {kNaN, -2.0f, -1.0f};
  EXPECT_EQ(set_.argmax(nan_first, 3), 2u);
  const float only_nan[] = {kNaN, kNaN};
  EXPECT_EQ(set_.argmax(only_nan, 2), 0u);
  const float infinite[] = {kNaN, -kInfinity};
  EXPECT_EQ(set_.argmax(infinite, 2), 1u);
  auto many = random_floats(1000, random_);
  many[777] = 100.0f;
  EXPECT_EQ(set_.argmax(many.data(), many.size()), 777u);
}

INSTANTIATE_TEST_SUITE_P(Sets, Vectors, ::testing::ValuesIn(available_sets()),
                         [](const auto& set) { return instruction_set_name(set.param); });

}  // namespace
}  // namespace halogen::cpu::testing
