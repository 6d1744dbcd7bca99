// Mixtures of experts beside float64: the choice, the products for each choice, and their sum.
#include <algorithm>

#include "core/check/reference/operators.h"
#include "tests/unit/vulkan_shaders/support.h"

namespace halogen::vulkan::testing {
namespace {

using reference::Precision;

TEST(ExpertShaders, ChooseTheBest) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(1);
  for (const uint32_t experts : {5U, 128U, 300U})
    for (const uint32_t scoring : {0U, 1U, 2U})
      for (const bool corrected : {false, true}) {
        halogen_route_attributes route{};
        route.experts = experts;
        route.used = 5;
        route.scoring = scoring;
        route.renormalise = corrected ? 1 : 0;
        route.scale = 2.5F;
        const size_t tokens = 3;
        Values logits(*gpu, {tokens, experts}, random, 2.0F);
        // Two that are equal: the first of them is better.
        logits.tensor.values[1] = logits.tensor.values[0];
        logits.rows.buffer->as<float>()[1] = logits.rows.buffer->as<float>()[0];
        const Values correction(*gpu, {1, experts}, random, 0.3F);
        const auto count = upload_count(*gpu, tokens);
        const auto ids = gpu->make(tokens * 8 * sizeof(int32_t));
        const Rows weights = make_rows(*gpu, tokens, 8);
        RouteConstants constants{};
        constants.logits = logits.rows.address();
        constants.correction = corrected ? correction.rows.address() : 0;
        constants.count = count->address();
        constants.ids = ids->address();
        constants.weights = weights.address();
        constants.experts = experts;
        constants.used = route.used;
        constants.scoring = scoring;
        constants.renormalise = route.renormalise;
        constants.logits_stride = logits.rows.stride;
        constants.choice_stride = 8;
        constants.scale = route.scale;
        gpu->run("expert_route", RouteSpecialization{}, constants, route_groups(tokens + 1));
        const reference::Route expected = reference::moe_route(
            logits.tensor, corrected ? &correction.tensor : nullptr, route, Precision::f32);
        for (size_t t = 0; t < tokens; t++)
          for (size_t i = 0; i < route.used; i++) {
            const size_t place = t * route.used + i;
            EXPECT_EQ(ids->as<int32_t>()[t * 8 + i], expected.ids[place]);
            EXPECT_NEAR(weights.buffer->as<float>()[t * 8 + i], expected.weights.values[place],
                        expected.weights.errors[place]);
          }
      }
}

struct Experts {
  halogen_type type = HALOGEN_Q4_K;
  size_t experts = 6, rows = 70, columns = 256, used = 3, tokens = 9;
  bool own_inputs = false, bias = false, crowded = false;
};

class ExpertProduct {
 public:
  ExpertProduct(Gpu& gpu, const Experts& e, uint32_t seed)
      : gpu_(gpu),
        e_(e),
        random_(seed),
        x_(gpu,
           e.own_inputs ? std::vector<size_t>{e.tokens, e.used, e.columns}
                        : std::vector<size_t>{e.tokens, e.columns},
           random_),
        bias_(gpu, {1, e.experts * e.rows}, random_),
        count_(upload_count(gpu, e.tokens)) {
    const std::vector<uint8_t> bytes =
        reference::random_weights(e.type, e.experts * e.rows * e.columns, random_);
    halogen_weight weight{};
    weight.type = e.type;
    weight.n_dims = 3;
    weight.dims[0] = static_cast<int64_t>(e.experts);
    weight.dims[1] = static_cast<int64_t>(e.rows);
    weight.dims[2] = static_cast<int64_t>(e.columns);
    weights_ = gpu.upload(bytes);
    choose();
    stored_ = reference::stored_weight(weight, bytes.data());
    stored_bias_ = Tensor({e.experts, e.rows});
    stored_bias_.values = bias_.tensor.values;
    expect(false);
  }

  // The same with inputs of signed bytes.
  void run_matvec_q8() {
    const auto columns = static_cast<uint32_t>(e_.columns);
    const auto rows = static_cast<uint32_t>(x_.tensor.values.size() / e_.columns);
    const auto count = upload_count(gpu_, rows);
    Rows codes{q8_row_words(columns), gpu_.make(size_t{rows} * q8_row_words(columns) * 4)};
    QuantiseConstants quantise{};
    quantise.x = x_.rows.address();
    quantise.count = count->address();
    quantise.y = codes.address();
    quantise.columns = quantise.x_stride = columns;
    quantise.y_stride = codes.stride;
    const QuantiseSpecialization specialization;
    gpu_.run("quantise_q8", specialization, quantise,
             quantise_groups(specialization, columns, rows));
    const Rows y = output();
    ExpertLinearConstants constants = describe(y);
    constants.x = codes.address();
    constants.x_stride = codes.stride * (e_.own_inputs ? used() : 1);
    constants.x_choice_stride = e_.own_inputs ? codes.stride : 0;
    expect(true);
    const ExpertMatvecSpecialization matvec;
    gpu_.run("expert_matvec_q8_" + type_name(), matvec, constants,
             expert_matvec_groups(matvec, static_cast<uint32_t>(e_.rows), used(),
                                  static_cast<uint32_t>(e_.tokens)));
    expect_rows(y, expected_, "matvec_q8");
    expect(false);
  }

  void run_matvec() {
    const Rows y = output();
    const ExpertMatvecSpecialization specialization;
    gpu_.run("expert_matvec_" + type_name(), specialization, describe(y),
             expert_matvec_groups(specialization, static_cast<uint32_t>(e_.rows), used(),
                                  static_cast<uint32_t>(e_.tokens) + 1));
    expect_rows(y, expected_, "matvec");
  }

  void run_matmul() {
    const auto experts = static_cast<uint32_t>(e_.experts);
    const auto choices = static_cast<uint32_t>(e_.tokens * e_.used);
    const auto tiles = gpu_.make(expert_tiles_bytes(experts, choices));
    GroupConstants group{};
    group.ids = ids_buffer_->address();
    group.count = count_->address();
    group.tiles = tiles->address();
    group.experts = experts;
    group.used = group.choice_stride = used();
    group.max_tiles = max_expert_tiles(experts, choices);
    gpu_.run("expert_group", GroupSpecialization{}, group, kGroupGroups);
    const Rows y = output();
    ExpertLinearConstants constants = describe(y);
    constants.tiles = tiles->address();
    gpu_.run("expert_matmul_" + type_name(), MatmulSpecialization{}, constants,
             expert_matmul_groups(static_cast<uint32_t>(e_.rows), experts, choices));
    expect_rows(y, expected_, "matmul");
  }

 private:
  void expect(bool quantised) {
    expected_ =
        reference::moe_linear(x_.tensor, stored_, ids_, e_.used, e_.bias ? &stored_bias_ : nullptr,
                              quantised, quantised ? Precision::q8 : Precision::f32);
  }

  std::string type_name() const { return halogen_type_find(e_.type)->name; }
  uint32_t used() const { return static_cast<uint32_t>(e_.used); }
  Rows output() const { return make_rows(gpu_, e_.tokens, e_.used * e_.rows); }

  // Different experts for each token; crowded: the same ones for all.
  void choose() {
    std::vector<int32_t> all(e_.experts);
    for (size_t i = 0; i < all.size(); i++) all[i] = static_cast<int32_t>(i);
    for (size_t t = 0; t < e_.tokens; t++) {
      if (!e_.crowded || t == 0) std::shuffle(all.begin(), all.end(), random_);
      ids_.insert(ids_.end(), all.begin(), all.begin() + static_cast<ptrdiff_t>(e_.used));
    }
    ids_buffer_ = gpu_.upload(ids_);
  }

  ExpertLinearConstants describe(const Rows& y) const {
    ExpertLinearConstants constants{};
    constants.weights = weights_->address();
    constants.x = x_.rows.address();
    constants.bias = e_.bias ? bias_.rows.address() : 0;
    constants.ids = ids_buffer_->address();
    constants.count = count_->address();
    constants.y = y.address();
    constants.row_bytes = static_cast<uint32_t>(halogen_row_bytes(e_.type, e_.columns));
    constants.expert_bytes = uint64_t{constants.row_bytes} * e_.rows;
    constants.rows = static_cast<uint32_t>(e_.rows);
    constants.columns = static_cast<uint32_t>(e_.columns);
    constants.used = constants.choice_stride = used();
    constants.x_stride = x_.rows.stride;
    constants.x_choice_stride = e_.own_inputs ? constants.columns : 0;
    constants.y_stride = y.stride;
    constants.y_choice_stride = constants.rows;
    return constants;
  }

  Gpu& gpu_;
  Experts e_;
  std::mt19937 random_;
  Values x_, bias_;
  std::unique_ptr<Buffer> count_, weights_, ids_buffer_;
  std::vector<int32_t> ids_;
  Tensor stored_, stored_bias_, expected_;
};

TEST(ExpertShaders, MultiplyByTheChosenExpert) {
  HALOGEN_GPU_OR_SKIP(gpu);
  const auto with = [&](auto change) {
    Experts experts;
    change(experts);
    ExpertProduct product(*gpu, experts, 2);
    product.run_matvec();
    product.run_matmul();
    if (gpu->has_integer_dot() && halogen_type_find(experts.type)->block_elements > 1)
      product.run_matvec_q8();
  };
  with([](Experts&) {});
  with([](Experts& e) { e.bias = true; });
  with([](Experts& e) { e.own_inputs = true; });
  with([](Experts& e) { e.type = HALOGEN_MXFP4; });
  with([](Experts& e) { e.type = HALOGEN_Q6_K; });
  with([](Experts& e) {  // experts with several tiles, and with none
    e.type = HALOGEN_Q8_0;
    e.tokens = 150;
    e.columns = 64;
    e.crowded = true;
  });
  with([](Experts& e) {
    e.type = HALOGEN_F16;
    e.experts = 100;
    e.used = 1;
    e.tokens = 1;
  });
}

TEST(ExpertShaders, SumByTheirWeights) {
  HALOGEN_GPU_OR_SKIP(gpu);
  std::mt19937 random(3);
  const size_t tokens = 4, used = 3, columns = 300;
  const Values x(*gpu, {tokens, used, columns}, random), weights(*gpu, {tokens, used}, random);
  const Values residual(*gpu, {tokens, columns}, random);
  const auto count = upload_count(*gpu, tokens);
  for (const bool has_residual : {false, true}) {
    const Rows y = make_rows(*gpu, tokens, columns);
    CombineConstants constants{};
    constants.x = x.rows.address();
    constants.weights = weights.rows.address();
    constants.residual = has_residual ? residual.rows.address() : 0;
    constants.count = count->address();
    constants.y = y.address();
    constants.columns = static_cast<uint32_t>(columns);
    constants.used = static_cast<uint32_t>(used);
    constants.choice_stride = weights.rows.stride;
    constants.x_stride = x.rows.stride;
    constants.x_choice_stride = static_cast<uint32_t>(columns);
    constants.residual_stride = residual.rows.stride;
    constants.y_stride = y.stride;
    const CombineSpecialization specialization;
    gpu->run("expert_combine", specialization, constants,
             combine_groups(specialization, constants.columns, tokens + 1));
    Tensor expected = reference::moe_combine(x.tensor, weights.tensor, Precision::f32);
    if (has_residual) expected = reference::add(expected, residual.tensor, Precision::f32);
    expect_rows(y, expected);
  }
}

}  // namespace
}  // namespace halogen::vulkan::testing
